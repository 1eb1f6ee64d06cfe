// The texts that are embedded when guard is built: nightly/report/page.html, page.css, report.md, report.txt,
// review.txt.
#pragma once

#include <string_view>

extern "C" {
extern const char guard_page_html[], guard_page_html_end[];
extern const char guard_page_css[], guard_page_css_end[];
extern const char guard_report_md[], guard_report_md_end[];
extern const char guard_report_txt[], guard_report_txt_end[];
extern const char guard_review_txt[], guard_review_txt_end[];
}

namespace guard::nightly {

inline std::string_view page_template() { return {guard_page_html, guard_page_html_end}; }
inline std::string_view page_style() { return {guard_page_css, guard_page_css_end}; }
inline std::string_view markdown_template() { return {guard_report_md, guard_report_md_end}; }
inline std::string_view text_template() { return {guard_report_txt, guard_report_txt_end}; }
inline std::string_view review_template() { return {guard_review_txt, guard_review_txt_end}; }

}  // namespace guard::nightly
