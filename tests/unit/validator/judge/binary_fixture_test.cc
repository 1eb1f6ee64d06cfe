// Pictures, archives and databases are data for tests; a picture that is a program is a program.
#include "validator/judge/binary_fixture.h"

#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

using namespace std::string_literals;

const std::string kPng = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x8\6\0\0\0\x1f\x15\xc4\x89"s;
const std::string kBytes = "\0\xff\xfe\x80\xc3(\0\x1b\xe2\x80\xae"s;  // invalid UTF-8, NUL, a bidi control

struct Sample {
  const char* path;
  std::string head;
};

bool finds_in(const std::string& path, const std::string& rule, const std::string& bytes) {
  return rules_of(bytes, kDocker, path).count(rule) > 0;
}

const std::vector<Sample> kSamples = {
    {"sandbox/a.png", kPng},
    {"sandbox/a.PNG", kPng},
    {"sandbox/a.jpg", "\xff\xd8\xff\xe0\0\x10JFIF\0\1"s},
    {"sandbox/a.jpeg", "\xff\xd8\xff\xdb\0C\0\x8\6\6"s},
    {"sandbox/a.gif", "GIF89a\1\0\1\0\x80\0\0"s},
    {"sandbox/big.gif", "GIF87a\xc8\0\xc8\0\xf7\0\0\0\0\0"s},
    {"sandbox/wide.gif", "GIF89a\x96\0=\0"s},
    {"sandbox/a.webp", "RIFF\x24\x8\0\0WEBPVP8 "s},
    {"sandbox/a.ico", "\0\0\1\0\1\0"s},
    {"sandbox/a.pdf", "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"s},
    {"sandbox/a.zip", "PK\3\4\x14\0\0\0"s},
    {"sandbox/a.gz", "\x1f\x8b\x8\0"s},
    {"sandbox/a.tgz", "\x1f\x8b\x8\0"s},
    {"sandbox/a.ttf", "\0\1\0\0\0\x0c"s},
    {"sandbox/a.otf", "OTTO\0\x0c"s},
    {"sandbox/a.woff2", "wOF2\0\1\0\0"s},
    {"sandbox/a.sqlite", "SQLite format 3\0\x10\0"s},
    {"sandbox/a.db", "SQLite format 3\0\x10\0"s},
    {"sandbox/a.pb", "\x8\x96\1\x12\7testing"s},
    {"sandbox/a.bin", "\0\1\2\3"s},
    {"sandbox/a.wav", "RIFF\x9c\1\0\0WAVEfmt \x10\0\0\0"s},
    {"sandbox/a.mp4",
        "\0\0\0\x18"
        "ftypmp42\0"s},
};

TEST(BinaryFixture, KnownKindsAreTakenAsData) {
  for (const Sample& sample : kSamples)
    EXPECT_EQ(rules_of(sample.head + kBytes, kHost, sample.path), std::set<std::string>()) << sample.path;
}

// The name and the first bytes have to agree; else it is text, and has to be UTF-8.
TEST(BinaryFixture, AnyOtherFileIsText) {
  EXPECT_TRUE(finds("encoding.nul_byte", kPng + kBytes) && finds("encoding.invalid_utf8", kPng + kBytes));
  for (const char* path : {"sandbox/a.ts", "sandbox/a.json", "sandbox/a.txt", "sandbox/a.jpg", "sandbox/a.png.js",
           "sandbox/a", "sandbox/png", "sandbox/a.svg", "sandbox/a.html", "sandbox/a.sh", "sandbox/a.tsx",
           "sandbox/a.mjs", "sandbox/a.toml", "sandbox/a.yaml", "sandbox/a.jsonc", "sandbox/a.css", "sandbox/.png"}) {
    EXPECT_FALSE(is_binary_fixture(path, kPng + kBytes)) << path;
    EXPECT_FALSE(rules_of(kPng + kBytes, kHost, path).empty()) << path;
  }
  EXPECT_FALSE(is_binary_fixture("sandbox/a.png", ""));
  EXPECT_FALSE(is_binary_fixture("sandbox/a.png", "text" + kPng));
  EXPECT_FALSE(is_binary_fixture("sandbox/a.bin", ""));
  EXPECT_FALSE(is_binary_fixture("sandbox/a.bin", "console.log(1)\n"));
}

// require("./a.gif") runs it, and so does `bun a.gif`.
TEST(BinaryFixture, AFileThatMayBeAProgramIsText) {
  for (const auto& [path, bytes] : std::vector<Sample>{
           {"sandbox/a.gif", "GIF89a/*\0\0\0*/=1;"s},
           {"sandbox/a.gif", "GIF89a=1;/*\0*/"s},
           {"sandbox/a.gif", "GIF89a='\0';"s},
           {"sandbox/a.gif", "GIF89a=`\0`;"s},
           {"sandbox/a.gif", "GIF89a=\"\0\";"s},
           {"sandbox/a.gif", "GIF89a\n//\0\n"s},
           {"sandbox/a.gif", "GIF89a=</a>\0"s},
           {"sandbox/a.gif", "GIF89a\n<!--\0\n"s},
           {"sandbox/a.gif", "GIF89a\n-->\0\n"s},
           {"sandbox/a.gif", "GIF89a\xe0\0\1=1;//"s},  // a decoder may take the three for one character
           {"sandbox/a.webp", "RIFF/*\0\0WEBP*/=1;"s},
           {"sandbox/a.bin", "#!/usr/bin/env bun\0"s},
           {"sandbox/a.bin",
               "\xff\xfe"
               "e\0v\0a\0l\0(\0"s},
           {"sandbox/a.bin", "\xfe\xff\0e\0v\0a\0l"s},
           {"sandbox/a.bin",
               "\xef\xbb\xbf"
               "eval('\0')"s},
           {"sandbox/a.dat", "e\x0cval(1)//\n"s},
       }) {
    EXPECT_FALSE(is_binary_fixture(path, bytes + kBytes)) << path << " " << bytes;
    EXPECT_FALSE(rules_of(bytes + kBytes, kHost, path).empty()) << path << " " << bytes;
  }
}

TEST(BinaryFixture, CompiledCodeStaysRefused) {
  for (const char* head : {"\x7f"
                           "ELF\2\1\1",
           "MZ\x90", "\xcf\xfa\xed\xfe\7", "!<arch>\n"}) {
    for (const char* path : {"sandbox/a.bin", "sandbox/a.dat", "sandbox/a.png"}) {
      EXPECT_FALSE(rules_of(head + kBytes, kHost, path).empty()) << path;
    }
  }
  EXPECT_FALSE(rules_of("\0asm\1\0\0\0"s, kHost, "sandbox/a.bin").empty());
  for (const char* path :
      {"sandbox/a.wasm", "sandbox/a.node", "sandbox/a.so", "sandbox/a.so.1.png", "sandbox/a.jsc", "sandbox/a.dll"}) {
    EXPECT_TRUE(finds_in(path, "side_file.native_code", kPng + kBytes)) << path;
  }
}

// A test may read a part of it and run that: eval, new Function, a file that is written and imported.
TEST(BinaryFixture, TextInItIsJudged) {
  for (const char* before : {"", "'", "`", "/*", "\"", "//", "\0 `'"}) {
    const std::string picture = kPng + kBytes + before;
    EXPECT_TRUE(finds_in("sandbox/a.png", "always.env_dump", picture + ";console.log(JSON.stringify(process.env))"))
        << before;
  }
  EXPECT_TRUE(finds_in("sandbox/a.png", "always.env_dump", kPng + kBytes + "\nObject.entries(process.env)\n" + kBytes));
  EXPECT_FALSE(rules_of(
      kPng + kBytes + "\nfetch('http://x', {unix: '/var/run/docker.sock'})\n" + kBytes, kDocker, "sandbox/a.png")
                   .empty());
  EXPECT_FALSE(rules_of(kPng + kBytes + "`;open('/proc/self/environ')", kDocker, "sandbox/a.png").empty());
}

TEST(BinaryFixture, SecretsInItAreFound) {
  const std::string key = "sk-" + "ant-api03-"s + std::string(95, 'q') + "AA";
  EXPECT_FALSE(rules_of(kPng + kBytes + key + kBytes, kDocker, "sandbox/a.png").empty());
  EXPECT_FALSE(rules_of("SQLite format 3\0\x10\0"s + kBytes + key + kBytes, kDocker, "sandbox/a.db").empty());
}

}  // namespace
}  // namespace guard
