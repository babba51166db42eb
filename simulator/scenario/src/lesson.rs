//! The lesson of a scenario.

use schemars::JsonSchema;
use serde::Deserialize;

/// A lesson: a question, and the measure of the runs that answers it. `fairwire play` shows the
/// lesson with the pictures. Runs do not depend on the lesson.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LessonSpec {
    /// The question.
    pub question: String,
    /// The detail to look at, and the changes to make during the run.
    #[serde(default)]
    pub look: String,
    /// The measure whose values answer the question, such as "share.tcp" or "jain".
    pub measure: String,
    /// A description of the measure, with its unit.
    pub reads: String,
    /// The answer.
    pub answer: String,
    /// The figure or table of a paper that shows the same effect, by its name in `fairwire
    /// reproduce`, such as "faba.table1". Default: none.
    #[serde(default)]
    pub figure: String,
}
