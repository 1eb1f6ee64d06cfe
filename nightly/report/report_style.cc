#include "nightly/report/report_style.h"

namespace guard::nightly {

// No colour stands for a meaning alone: every state is written out, too. Contrast of texts is 4.5:1 or better in both
// schemes.
const std::string_view kReportStyle = R"css(
:root{color-scheme:light dark;
--bg:#fff;--fg:#1f2328;--soft:#59636e;--line:#d8dee4;--panel:#f6f8fa;--link:#0b5cad;
--accepted:#1a7f37;--refused:#a85300;--failed:#c4242d;--waiting:#6b5bb5;--running:#0b6bcb;--skipped:#656e78;--past:#a9b7c6;--now:#3d5a80;
--add-bg:#e6f6ea;--add:#0f5323;--del-bg:#fdeceb;--del:#82071e;--note:#fff8e5;--note-line:#e5c766}
@media (prefers-color-scheme:dark){:root{
--bg:#0f1419;--fg:#dfe5eb;--soft:#98a4b0;--line:#2c3640;--panel:#171e26;--link:#79b8ff;
--accepted:#4ac26b;--refused:#e0963a;--failed:#f47067;--waiting:#a898f0;--running:#5aa9f0;--skipped:#8b96a2;--past:#4a5866;--now:#8fb4dd;
--add-bg:#11301c;--add:#9be9b0;--del-bg:#3a1618;--del:#ffb3ad;--note:#2a2413;--note-line:#6b5a22}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
main,header,footer{max-width:1120px;margin:0 auto;padding:0 24px}
header{padding-top:36px}
h1{font-size:26px;line-height:1.25;margin:0 0 6px;letter-spacing:-.01em}
h1 .pill{vertical-align:4px;margin-left:6px}
h2{font-size:18px;margin:44px 0 12px;padding-top:4px;letter-spacing:-.005em}
h2 small{font-weight:400;color:var(--soft);font-size:15px;margin-left:6px}
h3{font-size:15px;margin:22px 0 6px}
p{margin:6px 0}
a{color:var(--link);text-decoration:none}
a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
code,pre,td,dd{unicode-bidi:isolate}
code,td,dd,li,p,h1{overflow-wrap:anywhere}
.lead,.none{color:var(--soft)}
.none{font-size:14px}
.pill{display:inline-block;font-size:12px;font-weight:600;line-height:18px;letter-spacing:0;padding:0 8px;border:1px solid currentColor;border-radius:9px;white-space:nowrap;max-width:100%;overflow:clip;text-overflow:ellipsis}
.c-accepted,.c-finished{color:var(--accepted)}.c-refused,.c-ended{color:var(--refused)}.c-failed{color:var(--failed)}.c-waiting,.c-stopped,.c-killed,.c-put_back,.c-interrupted{color:var(--waiting)}.c-running{color:var(--running)}.c-skipped{color:var(--skipped)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(116px,1fr));gap:10px;margin:24px 0 12px;padding:0;list-style:none}
.tiles li{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:10px 14px}
.tiles b{display:block;font-size:24px;line-height:1.25;font-weight:650}
.tiles a{color:inherit;display:block}.tiles span{color:var(--soft);font-size:13px}
svg{display:block;width:100%}
svg text{fill:var(--soft);font:12px system-ui,sans-serif}
svg a:hover rect,svg g:hover rect{opacity:.75}
.outcomes{height:10px;border-radius:5px;overflow:hidden}
.s-accepted{fill:var(--accepted)}.s-refused{fill:var(--refused)}.s-failed{fill:var(--failed)}.s-waiting{fill:var(--waiting)}.s-running{fill:var(--running)}.s-skipped{fill:var(--skipped)}.s-past{fill:var(--past)}.s-now{fill:var(--now)}
.grid,.axis{stroke:var(--line);stroke-width:1}
.scroll{overflow-x:auto}
.timeline{min-width:640px}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;color:var(--soft);font-size:13px;margin:8px 0 0;padding:0;list-style:none}
.legend svg{display:inline-block;width:10px;height:10px;margin-right:6px;border-radius:2px}
.notices{background:var(--note);border:1px solid var(--note-line);border-radius:8px;margin:18px 0;padding:10px 16px 10px 34px}
.notices li{margin:2px 0}
header h2{margin-top:22px}
.steps{margin:8px 0;padding-left:24px}
.steps li{margin:6px 0}
.steps pre{padding:5px 10px;white-space:pre-wrap;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;vertical-align:top;padding:6px 12px 6px 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:500;font-size:13px;white-space:nowrap}
th.n,td.n{text-align:right;white-space:nowrap;padding-right:0;padding-left:14px}
td.id{min-width:120px;max-width:240px}
td.why{color:var(--soft);max-width:520px}
.filters{display:flex;flex-wrap:wrap;gap:6px;margin:0 0 8px;padding:0;list-style:none}
.filters a{display:block;padding:2px 10px;border:1px solid var(--line);border-radius:13px;font-size:13px;color:var(--fg)}
.filters b{font-weight:500;color:var(--soft)}
#only-accepted:target~table tbody tr:not(.accepted),#only-refused:target~table tbody tr:not(.refused),#only-failed:target~table tbody tr:not(.failed),#only-running:target~table tbody tr:not(.running),#only-waiting:target~table tbody tr:not(.waiting),#only-skipped:target~table tbody tr:not(.skipped){display:none}
#only-accepted:target~.filters .accepted,#only-refused:target~.filters .refused,#only-failed:target~.filters .failed,#only-running:target~.filters .running,#only-waiting:target~.filters .waiting,#only-skipped:target~.filters .skipped{background:var(--panel);border-color:var(--fg)}
details.task{border:1px solid var(--line);border-radius:8px;margin:8px 0}
summary{cursor:pointer}
details.task>summary{padding:9px 14px;display:flex;gap:4px 12px;align-items:baseline;flex-wrap:wrap;list-style:none}
details.task>summary::-webkit-details-marker{display:none}
details.task>summary::before{content:"▸";color:var(--soft);width:12px;flex:none}
details.task[open]>summary::before{content:"▾"}
details.task>summary code{font-weight:600;min-width:0}
.what{color:var(--soft);flex:1 1 300px;min-width:0;overflow-wrap:anywhere}
.body{padding:2px 16px 16px 38px}
.body details{margin:8px 0}
.body details>summary{color:var(--link);font-size:14px}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 16px;margin:8px 0;font-size:14px}
dt{color:var(--soft)}dd{margin:0}
.findings{margin:8px 0;padding:0;list-style:none;font-size:14px}
.findings li{border-left:3px solid var(--refused);padding:2px 0 2px 12px;margin:10px 0}
.fix{color:var(--soft)}
.fix b{color:var(--fg);font-weight:600}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:10px 12px;margin:6px 0;overflow-x:auto;tab-size:4;line-height:1.45}
pre.wrap{white-space:pre-wrap;overflow-wrap:anywhere}
.findings pre{padding:4px 10px}
pre.diff{padding:8px 0;max-height:720px;overflow:auto}
pre.diff span{display:block;padding:0 12px;width:max-content;min-width:100%}
.da{background:var(--add-bg);color:var(--add)}.dd{background:var(--del-bg);color:var(--del)}.dm{color:var(--soft);font-weight:600}.dh{color:var(--waiting)}
.trends{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:22px 24px}
figure{margin:0}
figcaption{font-size:13px;color:var(--soft);margin-bottom:6px;display:flex;justify-content:space-between;gap:10px;white-space:nowrap}
figcaption b{color:var(--fg);font-weight:600}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr));gap:0 40px}
td.bar{width:30%}td.bar svg{height:8px;margin-top:7px}
footer{color:var(--soft);font-size:13px;padding-top:36px;padding-bottom:48px}
@media (max-width:640px){
main,header,footer{padding-left:16px;padding-right:16px}
header{padding-top:22px}
h1{font-size:22px}
.tiles{grid-template-columns:repeat(3,1fr);gap:8px}
.tiles li{padding:8px 10px}.tiles b{font-size:20px}
.tasks thead{display:none}
.tasks tr{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 10px;padding:8px 0;border-bottom:1px solid var(--line)}
.tasks td{border:0;padding:0;max-width:none}
.tasks td.why{grid-column:1/-1;font-size:13px}
.tasks td.n{display:none}
.body{padding-left:16px}
dl{gap:3px 12px}
}
@media print{
:root{color-scheme:light;--bg:#fff;--fg:#000;--soft:#444;--line:#bbb;--panel:#fff;--link:#000;--accepted:#1a7f37;--refused:#a85300;--failed:#c4242d;--waiting:#6b5bb5;--running:#0b6bcb;--skipped:#656e78;--past:#999;--now:#333;--add-bg:#fff;--add:#0f5323;--del-bg:#fff;--del:#82071e;--note:#fff;--note-line:#bbb}
body{font-size:11px}
main,header,footer{max-width:none;padding-left:0;padding-right:0}
.filters{display:none}
table{font-size:11px}
h2,h3,summary{break-after:avoid}
tr,.findings li,figure,.tiles li{break-inside:avoid}
pre,pre.diff{white-space:pre-wrap;overflow:visible;max-height:none;overflow-wrap:anywhere}
pre.diff span{width:auto}
svg,.pill{-webkit-print-color-adjust:exact;print-color-adjust:exact}
.timeline{min-width:0}
details::details-content{content-visibility:visible;block-size:auto}
}
)css";

}  // namespace guard::nightly
