// Everything an expansion might name is something else here.
#![allow(dead_code, unused_macros)]

mod core {}
mod std {}
mod alloc {}
mod serde {}
mod inventory {}
mod outbox {}

type Result<T> = ::std::result::Result<T, ()>;
struct Option;
struct String;
struct Some;
struct None;
struct Send;
struct Vec;

trait Serialize {}
trait Event {}
trait ToString {}

macro_rules! env {
    () => {};
}
macro_rules! concat {
    () => {};
}
macro_rules! submit {
    () => {};
}

#[derive(::outbox::Event, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
    note: ::std::option::Option<::std::string::String>,
}

fn main() {
    let event = OrderPlaced { order_id: 7, note: ::std::option::Option::None };
    assert_eq!(::outbox::Event::partition_key(&event), ::std::option::Option::Some("7".into()));
}
