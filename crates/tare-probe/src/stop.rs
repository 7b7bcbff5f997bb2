//! Ctrl-C and SIGTERM: the loops end soon, what is whole is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that Ctrl-C, SIGTERM and SIGHUP set. Where no handler can be installed they end the
/// process at once, as they would without us; the recording's hidden folder then stays behind.
pub fn on_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    if let Err(error) = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)) {
        crate::output::tell(&format!("warning: Ctrl-C will lose what is measured: {error}"));
    }
    stop
}
