// Everything an expansion might name is something else here.

#![expect(dead_code, unused_macros, reason = "these names are only to be in the way")]

mod core {}
mod std {}
mod alloc {}
mod outbox {}

type Result<T> = ::std::result::Result<T, ::std::string::String>;
struct Box;
struct Vec;
struct Option;
struct Duration;
struct Arguments;

macro_rules! env {
    () => {};
}
macro_rules! submit {
    () => {};
}

#[::outbox::consumer(name = "call")]
async fn call(arguments: ::outbox_ui_tests::OrderPlaced) -> Result<()> {
    drop(arguments);
    Ok(())
}

#[::outbox::consumer(name = "arguments")]
async fn arguments(invocation: ::outbox_ui_tests::OrderPlaced) -> Result<()> {
    drop(invocation);
    Ok(())
}

mod r#type {
    #[::outbox::consumer(name = "raw")]
    async fn r#async(r#type: ::outbox_ui_tests::OrderPlaced) -> super::Result<()> {
        drop(r#type);
        Ok(())
    }
}

fn main() {
    assert_eq!(::outbox::Catalog::collect().unwrap().consumers().len(), 3);
}
