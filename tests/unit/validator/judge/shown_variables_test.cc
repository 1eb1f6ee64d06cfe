#include "validator/judge/shown_variables.h"

#include <gtest/gtest.h>

#include <string>

namespace guard {
namespace {

bool shown(const std::string& code) {
  const std::string read = "process.env.A";
  const std::size_t at = code.find(read);
  const CodeText text(code);
  return ShownVariables(text).contain(at, at + read.size());
}

// Code views, as validator/views/source_view.h writes them.
TEST(ShownVariables, ReachWhatAFailedTestPrints) {
  for (const char* code : {
           "const a=`${process.env.A}`;expect(a).toBe(\"\")",
           "expect(1).toBe(process.env.A)",
           "const a={b:{c:process.env.A}};expect(a).toEqual({})",
           "const a={b:{c:process.env.A}};expect(a.b.c).toBe(\"\")",
           "class A{t=process.env.A}expect(new A().t).toBe(\"\")",
           "class A{load(){this.t=process.env.A;return this}}expect(new A().load().t).toBe(\"\")",
           "function f(a=process.env.A){return{a}}expect(f()).toBe(\"\")",
           "const f=()=>process.env.A;expect(f()).toBe(\"\")",
           "const f=async()=>{return process.env.A};expect(f()).toBe(\"\")",
           "const a=[];a.push(process.env.A);expect(a).toBe(\"\")",
           "const u=new URL(\"\");u.searchParams.set(\"\",process.env.A);expect(u.href).toBe(\"\")",
           "const[a,b]=[1,process.env.A];expect(b).toBe(\"\")",
           "let a;a=process.env.A;test(a,()=>{})",
           "const a=[process.env.A];throw new Error(a.join(\"\"))",
           "const a=process.env.A+\"\",b=a;assert.equal(b,\"\")",
           "const f=mock(()=>{});f(process.env.A);expect(f).toHaveBeenCalled()",
           "function f():Promise<string>{return process.env.A}expect(f()).toBe(\"\")",
           "function f(a){if(a){return process.env.A}return 1}expect(f(1)).toBe(1)",
           "function f(a){for(;;){try{return process.env.A}catch{}}}expect(f(1)).toBe(1)",
           "const f=()=>{return process.env.A};expect(()=>[expect(f()).toBe(\"\")]).not.toThrow()",
           "const f=(a)=>{if(a){return process.env.A}return 1};expect(f(1)).toBe(1)",
       }) {
    EXPECT_TRUE(shown(code)) << code;
  }
}

TEST(ShownVariables, AreNotWhatGoesElsewhere) {
  for (const char* code : {
           "const a=process.env.A;connect(a)",
           "const db=connect(process.env.A);expect(db.rows).toBe(1)",
           "const a={b:process.env.A,c:1};expect(a.c).toBe(1)",
           "const a=process.env.A!==undefined;expect(a).toBe(true)",
           "const a=process.env.A?1:2;expect(a).toBe(1)",
           "if(process.env.A)expect(1).toBe(1)",
           "expect(process.env.A).toBeDefined()",
           "const a=x[process.env.A];expect(a).toBe(1)",
           "test(\"\",()=>{const a=process.env.A;use(a)})",
           "const a=1,b=process.env.A;expect(a).toBe(1)",
           "function f(a){if(a){return process.env.A}return 1}use(f(1))",
           "const f=()=>{return process.env.A};expect(()=>new URL(f())).not.toThrow()",
       }) {
    EXPECT_FALSE(shown(code)) << code;
  }
}

// Torn and nested texts end, and what takes too much counts as shown.
TEST(ShownVariables, TakeBoundedWork) {
  for (const char* code :
      {"process.env.A", "}process.env.A", ")=>process.env.A", "${process.env.A}", "`${process.env.A", "=process.env.A",
          "return process.env.A", "{return process.env.A", "){return process.env.A", "new (process.env.A)"}) {
    (void)shown(code);
  }
  std::string chain = "const a0=process.env.A;";
  for (int i = 1; i < 50'000; ++i) chain += "const a" + std::to_string(i) + "=[a" + std::to_string(i - 1) + "];";
  (void)shown(chain);
  const CodeText use("use(process.env.A)");
  EXPECT_TRUE(ShownVariables(use, 0).contain(4, 17));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "=>{return ";
  (void)shown(deep + "process.env.A");
}

// What thousands of reads do that go nowhere is no more than what each does.
TEST(ShownVariables, AreNotMadeOfManyReads) {
  for (const char* statement :
      {"process.env.A;", "f(process.env.A);", "const a={b:()=>{use(process.env.A)}};", "if(f(process.env.A)){use()}"}) {
    std::string code = "import{f,use}from\"x\";";
    for (int i = 0; i < 20'000; ++i) code += statement;
    const CodeText text(code);
    ShownVariables variables(text);
    const std::string read = "process.env.A";
    std::size_t count = 0;
    for (std::size_t at = code.find(read); at != std::string::npos; at = code.find(read, at + 1))
      count += variables.contain(at, at + read.size()) ? 1 : 0;
    EXPECT_EQ(count, 0U) << statement;
  }
}

}  // namespace
}  // namespace guard
