//! What does not compile, and what the compiler then says. What compiles is in `compiles/`.
//!
//! Only failures are here, so that one `cargo check` of all files is enough: with files that pass, they would be built and
//! run one by one.

#[test]
fn refused_with_a_message_that_helps() {
    trybuild::TestCases::new().compile_fail("ui/fail/*.rs");
}
