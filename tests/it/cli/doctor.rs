//! `outbox doctor`: what people read, what scripts read, and how it ends.

use super::{Shop, failed, stderr, stdout, succeeded};
use serde_json::{Value, json};

#[tokio::test]
async fn doctor_ends_with_0_when_all_is_well_and_with_1_when_something_is_not() {
    let well = Shop::migrated();
    assert_eq!(succeeded(&well.run(&["doctor"])), "nothing is wrong\n");
    assert_eq!(succeeded(&well.run(&["doctor", "--json"])), "{\"findings\":[]}\n");

    let ill = Shop::with_dead_letters(4).await;
    let told = ill.run(&["doctor"]);
    assert_eq!((told.status.code(), stderr(&told).as_str()), (Some(1), ""));
    let text = stdout(&told);
    for part in [
        "dead-letters: consumer/billing.charge\n",
        "  what  2 dead letters",
        "  why   ",
        "  fix   `outbox dead-letters list",
    ] {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    let told = ill.run(&["doctor", "--json"]);
    assert_eq!((told.status.code(), stderr(&told).as_str()), (Some(1), ""));
    let answer: Value = serde_json::from_str(stdout(&told).trim_end()).unwrap();
    let first = &answer["findings"][0];
    let names: Vec<_> = first.as_object().unwrap().keys().collect();
    assert_eq!(names, ["about", "code", "fix", "problem", "why"]);
    assert_eq!(
        (&first["code"], &first["about"]),
        (&json!("dead-letters"), &json!("consumer/billing.charge"))
    );
}

#[test]
fn doctor_of_a_database_that_cannot_be_had_fails_as_every_command_does() {
    let shop = Shop::empty();
    assert!(failed(&shop.run(&["doctor"]), 1).contains("does not exist"));
}
