//! How many connections the system lets this process hold. Many systems begin with 1,024 descriptors for a process and
//! let it ask for more; a school has more pages open than that.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Asks for as many descriptors as this process may have, and answers how many it has now; nothing for no limit.
pub fn raise() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => limit.maximum,
        // Some systems allow less than they say; what there was is still there.
        Err(_) => limit.current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_rises_to_the_hard_one() {
        let now = raise();
        assert_eq!(getrlimit(Resource::Nofile).current, now);
        assert_eq!(raise(), now, "asking again changes nothing");
    }
}
