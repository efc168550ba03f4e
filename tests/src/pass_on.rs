//! What a broker that wraps another one leaves as it is.

/// Within an `impl Broker`: passes every call on to the broker `inner`, but for `publish` and `subscribe`, which are passed on
/// where they are named.
macro_rules! pass_on {
    ($($too:ident)*) => {
        fn capabilities(&self) -> outbox::broker::Capabilities {
            self.inner.capabilities()
        }

        fn connect(&self) -> $crate::pass_on::Answer<'_, ()> {
            self.inner.connect()
        }

        fn partitions<'a>(&'a self, topic: &'a str) -> $crate::pass_on::Answer<'a, Vec<String>> {
            self.inner.partitions(topic)
        }

        fn register<'a>(&'a self, topic: &'a str, consumer: &'a str) -> $crate::pass_on::Answer<'a, ()> {
            self.inner.register(topic, consumer)
        }

        fn examine<'a>(
            &'a self,
            asked: &'a outbox::broker::Examination,
        ) -> $crate::pass_on::Answer<'a, Vec<outbox::Finding>> {
            self.inner.examine(asked)
        }

        $($crate::pass_on::pass_on_too!($too);)*
    };
}

macro_rules! pass_on_too {
    (publish) => {
        fn publish<'a>(
            &'a self,
            batch: &'a [outbox::broker::Outgoing<'a>],
        ) -> $crate::pass_on::Answer<'a, Vec<outbox::broker::Published>> {
            self.inner.publish(batch)
        }
    };
    (subscribe) => {
        fn subscribe<'a>(
            &'a self,
            subscription: &'a outbox::broker::SubscriptionConfig,
        ) -> $crate::pass_on::Answer<'a, Box<dyn outbox::broker::Subscription>> {
            self.inner.subscribe(subscription)
        }
    };
}

pub(crate) use {pass_on, pass_on_too};

/// What a broker's call comes to.
pub(crate) type Answer<'a, T> = futures_util::future::BoxFuture<'a, Result<T, outbox::broker::BrokerError>>;
