// A set of events has some.

use outbox::EventSet;

#[derive(EventSet)]
enum OrderChanged {}

fn main() {}
