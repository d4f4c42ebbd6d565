//! An outage at full load costs little memory. In a program of its own, whose memory is looked at.

use std::time::Duration;

use tests::chaos::{Loss, outage};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_bounded_while_redis_is_away() {
    for loss in Loss::ALL {
        let outage = outage(*loss, Duration::from_secs(2), Duration::from_secs(2)).await;
        println!("without ({loss:?}): {outage}");
        assert!(outage.growth() <= 32 << 20, "{loss:?}: {outage}");
    }
}
