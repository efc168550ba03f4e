//! Counts the money: what customers were told is held against the tables of all three services.

use sqlx::PgPool;
use std::{collections::BTreeMap, process::ExitCode};
use storefront::Result;

/// The orders that customers have a receipt of: number and cents.
pub(crate) type Ledger = BTreeMap<i64, i64>;

/// At most so many of the faults are shown.
const SHOWN_MAX: usize = 20;

/// An order, and what each service knows of it.
#[derive(Debug)]
struct Account {
    id: i64,
    /// Nothing, if it was never placed.
    cents: Option<i64>,
    charges: i64,
    charged_cents: i64,
    shipments: i64,
    /// Whether its customer can see that it was charged and sent.
    is_closed: bool,
}

impl Account {
    fn faults(&self, ledger: &Ledger) -> Vec<String> {
        let Self { id, charges, charged_cents, shipments, .. } = self;
        let Some(cents) = self.cents else {
            return vec![format!(
                "order {id} was never placed, and was charged {charges} and sent {shipments} times"
            )];
        };
        let mut faults = Vec::new();
        if let Some(receipt) = ledger.get(id).filter(|receipt| **receipt != cents) {
            faults.push(format!(
                "order {id} was placed for {cents} cents, and its customer was told {receipt}"
            ));
        }
        if *charges != 1 {
            faults.push(format!("order {id} was charged {charges} times"));
        } else if *charged_cents != cents {
            faults.push(format!("order {id} was placed for {cents} cents, and {charged_cents} were charged"));
        }
        if *shipments != 1 {
            faults.push(format!("order {id} was sent {shipments} times"));
        }
        if !self.is_closed {
            faults.push(format!("the customer of order {id} does not see that it was charged and sent"));
        }
        faults
    }
}

/// What the count says.
#[derive(Debug)]
pub(crate) struct Verdict {
    orders: usize,
    cents_in: i64,
    cents_charged: i64,
    faults: Vec<String>,
}

impl Verdict {
    /// Counts. An empty ledger leaves out what only customers know.
    pub(crate) async fn of(pool: &PgPool, ledger: &Ledger) -> Result<Self> {
        let rows: Vec<(i64, Option<i64>, i64, i64, i64, bool)> =
            sqlx::query_as(include_str!("../../sql/select_accounts.sql")).fetch_all(pool).await?;
        let account = |(id, cents, charges, charged_cents, shipments, is_closed)| Account {
            id,
            cents,
            charges,
            charged_cents,
            shipments,
            is_closed,
        };
        let accounts: Vec<Account> = rows.into_iter().map(account).collect();
        let mut faults: Vec<String> = accounts.iter().flat_map(|account| account.faults(ledger)).collect();
        let known: BTreeMap<i64, &Account> = accounts.iter().map(|account| (account.id, account)).collect();
        let lost = ledger.keys().filter(|id| !known.contains_key(id));
        faults.extend(lost.map(|id| format!("order {id} is lost, and its customer has a receipt")));
        Ok(Self {
            orders: accounts.len(),
            cents_in: accounts.iter().filter_map(|account| account.cents).sum(),
            cents_charged: accounts.iter().map(|account| account.charged_cents).sum(),
            faults,
        })
    }

    /// Whether everything is as it must be.
    pub(crate) fn is_kept(&self) -> bool {
        self.faults.is_empty() && self.cents_in == self.cents_charged
    }

    /// Tells, and gives what the program ends with.
    pub(crate) fn show(&self) -> ExitCode {
        let money = |cents: i64| format!("{}.{:02}", cents / 100, cents % 100);
        println!(
            "{} orders, {} in, {} charged",
            self.orders,
            money(self.cents_in),
            money(self.cents_charged)
        );
        if self.is_kept() {
            println!("every order was charged once and sent once");
            return ExitCode::SUCCESS;
        }
        for fault in self.faults.iter().take(SHOWN_MAX) {
            eprintln!("{fault}");
        }
        eprintln!("error: {} faults", self.faults.len());
        ExitCode::FAILURE
    }
}
