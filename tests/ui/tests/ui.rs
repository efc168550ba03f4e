//! Compiles each case: those under `pass` must compile and run, those under `fail` must fail with the text beside them.
//!
//! `TRYBUILD=overwrite` writes the texts anew.

#[test]
fn events() {
    let cases = trybuild::TestCases::new();
    cases.pass("event/pass/*.rs");
    cases.compile_fail("event/fail/*.rs");
}

#[test]
fn consumers() {
    let cases = trybuild::TestCases::new();
    cases.pass("consumer/pass/*.rs");
    cases.compile_fail("consumer/fail/*.rs");
}
