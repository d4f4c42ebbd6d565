//! What compiles, what does not, and what the compiler then says.

#[test]
fn annotated_functions() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    cases.compile_fail("ui/fail/*.rs");
}
