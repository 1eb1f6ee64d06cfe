// What the redactor does to which text, E: what must not be hidden, and what is, though it may be none. Numbers are
// those of the list of cases; docs/redaction.md tells of the judgement calls.
#include "tests/support/redact/redact_case.h"

namespace guard::test {
namespace {

TEST(RedactCases, E61_HashesAndIds) {
  keeps("commit " + hex_text(40) + "\nsha256:" + hex_text(64) + " md5 " + hex_text(32) + "\n");
  keeps("id 123e4567-e89b-12d3-a456-426614174000 01ARZ3NDEKTSV4RRFFQ69G5FAV etag: \"" + hex_text(32) + "\"\n");
}

TEST(RedactCases, E62_IntegrityOfPackages) {
  keeps("\"integrity\": \"sha512-" + random_text(86, 80) + "==\",\n");
  keeps("    \"left-pad\": [\"left-pad@1.3.0\", \"\", {}, \"sha512-" + random_text(86, 79) + "==\"],\n");
}

// A digest in hex has no upper case or no lower case.
TEST(RedactCases, E63_Sha512InHex) {
  keeps(
      "sha512 " + hex_text(128, 63) + " x.tgz\n\"packageManager\": \"pnpm@9.1.0+sha512." + hex_text(128, 64) + "\"\n");
  keeps("sha256:" + hex_text(64, 65) + " " + random_text(128, 66, "0123456789ABCDEF") + "\n");
}

TEST(RedactCases, E64_LinesOfBun) {
  keeps(
      "bun test v1.1.30 (7996d06b)\n\nsandbox/x.test.ts:\n\xE2\x9C\x93 adds [0.42ms]\n(pass) a > b\n(fail) c "
      "[1.00ms]\n\n"
      " 12 pass\n 0 fail\nRan 12 tests across 3 files. [85.00ms]\n-----------|---------|---------|\n"
      "File       | % Funcs | % Lines |\n   3 | expect(a).toBe(b)\n               ^\n"
      "      at <anonymous> (/app/x.test.ts:3:5)\n");
}

// Leaves in windows: it has no line end to wait for.
TEST(RedactCases, E65_MinifiedCode) {
  const std::string piece = "function a(b,c){return b.map(d=>d*c)};var e=a([1,2],3);";
  keeps(repeat(piece, 20));
  const std::string code = repeat(piece, 1200);
  MemorySink sink;
  auto redactor = Redactor::create(shipped_kinds(), sink);
  ASSERT_TRUE(redactor.has_value());
  for (std::size_t at = 0; at < code.size(); at += 100) {
    ASSERT_TRUE(redactor->push(std::string_view(code).substr(at, 100)).has_value());
    ASSERT_LE(redactor->carried_bytes(), Redactor::kCarryBytesMax);
    ASSERT_GE(sink.text.size() + 512, std::min(at + 100, code.size())) << "held back";
  }
  ASSERT_TRUE(redactor->finish().has_value());
  EXPECT_EQ(sink.text, code);
}

TEST(RedactCases, E66_SourceMapMappings) { keeps("{\"mappings\":\"" + repeat("AAAA,CAAC;AACA,SAAS,", 20) + "\"}\n"); }

TEST(RedactCases, E67_InlineMapIsHidden) {
  hides("//# sourceMappingURL=data:application/json;base64,<1>\n",
      "//# sourceMappingURL=data:application/json;base64,[REDACTED:jwt]\n", {joined("ey", "J", random_text(200, 81))});
}

TEST(RedactCases, E68_InlineImageIsHidden) {
  hides("url(data:image/png;base64,<1>)\n", "url(data:image/png;base64,[REDACTED:base64])\n",
      {"iVBOR" + random_text(300, 82)}, Begun::without_one);
}

TEST(RedactCases, E69_VendorPrefixInsideShortBase64) {
  const std::string image = "iVBORw0KGgo";
  keeps("data:image/png;base64," + joined(image, "AK", "IA", random_text(16, 83, "ABCDEFGH23")) + "AAAElFTkSuQmCC\n",
      Lines::may_wait);
  keeps(
      "data:image/png;base64," + joined(image, "AI", "za", random_text(35, 84)) + "AAAElFTkSuQmCC\n", Lines::may_wait);
  keeps("data:image/png;base64," + joined(image, "gAAA", "AAB", random_text(60, 85)) + "SuQmCC\n", Lines::may_wait);
}

TEST(RedactCases, E70_WordsThatEndInSk) {
  keeps(
      "risk-assessment-framework-2024-final mask-radial-from-closest-side task-0123456789-abcdefghij-xyz "
      "desk-0123456789abcdefghijkl\n",
      Lines::may_wait);
  keeps("sk-folding-cube-container-wrapper sk-cube1\n", Lines::may_wait);
  keeps("task-ant-design-components-table-2024-01\n", Lines::may_wait);
}

TEST(RedactCases, E71_NamesWithoutValues) {
  keeps("sk- and sk-ant- and /sk-ant-[\\w-]+/ and sk-... \n");
  keeps(kTelegram + "=\n" + kTelegram + "=$TOKEN\n" + kTelegram + "=<your token>\n" + kTelegram + ": string\n" +
          kTelegram + " = process.env." + kTelegram + ";\n",
      Lines::may_wait);
  keeps("const token = process.env." + kTelegram + ";\nif (!" + kTelegram + ") throw new Error('no')\n");
  hides("<1>\n", "[REDACTED:anthropic]\n", {joined("sk", "-ant-", std::string(30, 'x'))});  // a placeholder
}

TEST(RedactCases, E72_RepeatedLetters) {
  keeps("got " + std::string(200, 'x') + "\n" + std::string(128, 'y') + "\n" + repeat("aB3-", 50) + "\n" +
      repeat("Ab1", 60) + "\n");
  hides("<1>\n", "[REDACTED:base64]\n", {random_text(101, 72)}, Begun::without_one);
}

TEST(RedactCases, E73_PathsOfLettersAndSlashesAlone) {
  keeps("at " + repeat("/srv/build7/Output", 8) + "\n");
  keeps("at " + repeat("/srv/build-7/Output.d", 8) + "\n");
  keeps("at /home/Alice1/projects" + repeat("/packages/core/src/Components", 6) + "\n");
}

TEST(RedactCases, E74_Rulers) {
  for (const char c : {'=', '-', '_', '/', '+', '*', '#'}) keeps(std::string(200, c) + "\n");
  keeps("//" + std::string(150, '/') + " section\n");
}

TEST(RedactCases, E75_MarkersInTheInput) {
  keeps("[REDACTED:jwt] [REDACTED:env:NAME]\n" + kTelegram + "=[REDACTED:telegram]\n");
  hides(kTelegram + "=[REDACTED:x]<1>\n", kTelegram + "=[REDACTED:x][REDACTED:telegram]\n",
      {"tail" + random_text(20, 84)});
}

}  // namespace
}  // namespace guard::test
