//! What is said where the framework is not found.

#[test]
fn b02_the_option_is_named() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
