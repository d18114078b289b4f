//! Statistics over several rounds.

use crate::lanes::{LoadSample, LoadTarget, MeasuredServer, Operation};

/// The median of some figures, with minimum and maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub least: f64,
    pub median: f64,
    pub most: f64,
}

impl Spread {
    /// Computes the spread; none for no figures.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let (least, most) = (*figures.first()?, *figures.last()?);
        let middle = figures.len() / 2;
        Some(Self {
            least,
            median: if figures.len().is_multiple_of(2) {
                f64::midpoint(figures[middle - 1], figures[middle])
            } else {
                figures[middle]
            },
            most,
        })
    }
}

/// A figure of a sample.
pub type Figure = fn(&LoadSample) -> f64;

/// Responses per second.
pub fn rate(sample: &LoadSample) -> f64 {
    sample.rate
}

/// CPU per response.
pub fn cpu(sample: &LoadSample) -> f64 {
    sample.cpu
}

/// The rounds of one database.
#[derive(Clone, Copy)]
pub struct Rounds<'r>(pub &'r [Vec<LoadSample>]);

impl Rounds<'_> {
    /// Returns a figure of one target.
    pub fn alone(self, what: Operation, who: MeasuredServer, figure: Figure) -> Option<Spread> {
        self.both((what, who), (what, who), figure, |left, _| left)
    }

    /// Returns the service's figure as a multiple of another server's, computed within each round.
    pub fn beside(self, what: Operation, who: MeasuredServer, figure: Figure) -> Option<Spread> {
        self.both((what, MeasuredServer::Service), (what, who), figure, |left, right| {
            left / right
        })
    }

    /// Returns how much larger a figure of the first target is than that of the second, computed within each round.
    pub fn above(
        self,
        left: (Operation, MeasuredServer),
        right: (Operation, MeasuredServer),
        figure: Figure,
    ) -> Option<Spread> {
        self.both(left, right, figure, |left, right| left - right)
    }

    /// Combines two figures of each round; none if one of them was not measured.
    pub fn both(
        self,
        left: (Operation, MeasuredServer),
        right: (Operation, MeasuredServer),
        figure: Figure,
        join: impl Fn(f64, f64) -> f64,
    ) -> Option<Spread> {
        let find = |samples: &[LoadSample], (what, who): (Operation, MeasuredServer)| {
            let found = samples.iter().find(|sample| sample.target == LoadTarget(what, who));
            found.map(figure)
        };
        let joined = self
            .0
            .iter()
            .map(|samples| Some(join(find(samples, left)?, find(samples, right)?)));
        Spread::of(joined.collect::<Option<Vec<f64>>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_even_count_is_mean_of_middle() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0]).map(|spread| spread.median), Some(2.0));
        assert_eq!(Spread::of([4.0, 1.0, 3.0, 2.0]).map(|spread| spread.median), Some(2.5));
        assert_eq!(Spread::of([]), None);
    }

    #[test]
    fn ratios_are_computed_within_a_round() {
        let sample = |who, rate| LoadSample {
            target: LoadTarget(Operation::Groups, who),
            rate,
            cpu: 1.0,
        };
        let rounds = [
            vec![
                sample(MeasuredServer::Service, 10.0),
                sample(MeasuredServer::Express, 1.0),
            ],
            vec![
                sample(MeasuredServer::Express, 10.0),
                sample(MeasuredServer::Service, 200.0),
            ],
        ];
        let found = Rounds(&rounds).beside(Operation::Groups, MeasuredServer::Express, rate);
        assert_eq!(found.map(|spread| (spread.least, spread.most)), Some((10.0, 20.0)));
        assert_eq!(
            Rounds(&rounds).beside(Operation::Groups, MeasuredServer::Fastify, rate),
            None
        );
        assert_eq!(
            Rounds(&[]).beside(Operation::Groups, MeasuredServer::Express, rate),
            None
        );
    }
}
