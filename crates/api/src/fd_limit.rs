//! The limit of open file descriptors, which bounds the connections of this process. Many systems start with a soft
//! limit of 1,024, less than the open pages of a school need.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard limit and returns the resulting limit; `None` for no limit.
pub fn raise() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let requested = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, requested) {
        Ok(()) => limit.maximum,
        // Some systems reject values up to their own hard limit. The former limit then still applies.
        Err(_) => limit.current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_descriptor_limit_is_raised_to_hard_limit() {
        let now = raise();
        assert_eq!(getrlimit(Resource::Nofile).current, now);
        assert_eq!(raise(), now, "asking again changes nothing");
    }
}
