//! String enums, such as statuses and roles, with the same values in JSON and in the database. Unknown values are
//! rejected.

/// Defines an enum with the same string values in JSON and in the database. The values are `tt`, because utoipa's
/// derive does not recognize a `literal` passed through a macro and would document `Active` instead of `ACTIVE`.
macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:tt,)+ }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        $(#[$doc])*
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every value, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the value in JSON and in the database.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Parses a value.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        $crate::valid_when_parsed!($name);
        $crate::stored::stored!($name as Text: |value| value.as_str(), |word| Self::parse(word), Self::ALL[0]);

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }
    };
}
pub(crate) use string_enum;
