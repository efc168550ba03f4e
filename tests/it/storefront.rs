//! The example `storefront`: its services are killed while they work and while release 2 comes, and no cent is lost.

use outbox_tests::{
    programs,
    servers::{Nats, Postgres},
};
use sqlx::{Connection, PgConnection};
use std::process::{Command, Output};

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn storefront(database: &str) -> Command {
    let mut command = programs::storefront();
    command.env("DATABASE_URL", database);
    command
}

#[tokio::test]
async fn half_a_minute_of_kills_while_release_2_comes_charges_and_sends_every_order_once() {
    let (Some(postgres), Some(nats)) = (Postgres::shared().await, Nats::private().await) else { return };
    let database = postgres.fresh_database().await;

    let mut up = storefront(&database);
    up.args(["up", "--broker", "nats", "--seconds", "30", "--rate", "20", "--kill"]);
    let ended = up.env("BROKER_URL", nats.url()).output().unwrap();

    let shown = text(&ended);
    assert!(ended.status.success(), "{shown}");
    for service in ["orders", "shipping", "billing"] {
        assert!(shown.contains(&format!("{service} is release 2 from now on")), "{shown}");
    }
    assert!(shown.contains("every order was charged once and sent once"), "{shown}");

    let last = shown.lines().rfind(|line| line.ends_with(" 2 2 2")).unwrap();
    let kills: u32 = last.split_whitespace().rev().nth(3).unwrap().parse().unwrap();
    assert!(kills >= 5, "{kills} kills show little:\n{shown}");

    // That is said only when it is so.
    let mut tables = PgConnection::connect(&database).await.unwrap();
    for (fault, told) in [
        ("DELETE FROM billing.charge WHERE order_id = 1", "order 1 was charged 0 times"),
        ("UPDATE billing.charge SET cents = cents + 1 WHERE order_id = 2", "order 2 was placed for "),
        ("INSERT INTO billing.charge (order_id, cents) VALUES (3, 1)", "order 3 was charged 2 times"),
        ("INSERT INTO shipping.shipment (order_id) VALUES (4)", "order 4 was sent 2 times"),
        ("DELETE FROM shipping.shipment WHERE order_id = 5", "order 5 was sent 0 times"),
        ("UPDATE orders.placed SET sent_at = NULL WHERE id = 6", "the customer of order 6 does not see"),
        ("DELETE FROM orders.placed WHERE id = 7", "order 7 was never placed"),
    ] {
        sqlx::query(fault).execute(&mut tables).await.unwrap();
        let checked = storefront(&database).arg("check").output().unwrap();
        assert_eq!(checked.status.code(), Some(1), "after {fault}: {}", text(&checked));
        assert!(text(&checked).contains(told), "after {fault}: {}", text(&checked));
    }
}
