// A set of events has some.
#![allow(unused)]

use outbox::EventSet;

#[derive(EventSet)]
enum OrderChanged {}

fn main() {}
