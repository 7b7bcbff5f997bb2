//! From the declaration of a table to its Arrow schema, and rows checked against it.

use crate::RecordError;
use crate::tables::{Column, Kind, Table};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::collections::HashMap;
use std::sync::Arc;

impl Kind {
    /// The Arrow type.
    #[must_use]
    pub fn data_type(self) -> DataType {
        match self {
            Self::U32 => DataType::UInt32,
            Self::U64 => DataType::UInt64,
            Self::I64 => DataType::Int64,
            Self::F64 => DataType::Float64,
            Self::Text => DataType::Utf8,
        }
    }
}

impl Column {
    /// Unit and meaning go into every file, so that it explains itself.
    fn field(&self) -> Field {
        let mut notes = HashMap::from([
            ("unit".to_owned(), self.unit.to_owned()),
            ("doc".to_owned(), self.doc.to_owned()),
        ]);
        notes.extend(self.null.map(|why| ("null".to_owned(), why.to_owned())));
        Field::new(self.name, self.kind.data_type(), self.null.is_some()).with_metadata(notes)
    }

    fn check(&self, values: &ArrayRef) -> Result<(), String> {
        let (name, wanted, found) = (self.name, self.kind.data_type(), values.data_type());
        if *found != wanted {
            return Err(format!("column `{name}` holds {found} instead of {wanted}"));
        }
        match (self.null, values.null_count()) {
            (None, nulls @ 1..) => Err(format!("column `{name}` holds {nulls} nulls, but may not")),
            _ => Ok(()),
        }
    }
}

impl Table {
    /// The Arrow schema of the table.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        let fields: Vec<Field> = self.columns.iter().map(Column::field).collect();
        let notes = HashMap::from([("doc".to_owned(), self.doc.to_owned())]);
        Arc::new(Schema::new_with_metadata(fields, notes))
    }
}

/// Rows of `table`, one array per declared column, in their order.
///
/// # Errors
/// [`RecordError::Batch`] if the number, type, length or nulls of the columns are not as declared.
pub fn batch(table: &Table, columns: Vec<ArrayRef>) -> Result<RecordBatch, RecordError> {
    let wrong = |why: String| RecordError::Batch { table: table.name, why };
    let (wanted, found) = (table.columns.len(), columns.len());
    if found != wanted {
        return Err(wrong(format!("{found} columns instead of {wanted}")));
    }
    for (column, values) in table.columns.iter().zip(&columns) {
        column.check(values).map_err(wrong)?;
    }
    RecordBatch::try_new(table.schema(), columns).map_err(|error| wrong(error.to_string()))
}

/// The same rows under the declared schema; columns must have the declared names and order.
pub(crate) fn declared(table: &Table, rows: &RecordBatch) -> Result<RecordBatch, RecordError> {
    let schema = rows.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    if !names.clone().eq(table.columns.iter().map(|column| column.name)) {
        let why = format!("columns are {}", names.collect::<Vec<_>>().join(", "));
        return Err(RecordError::Batch { table: table.name, why });
    }
    batch(table, rows.columns().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{ALL, CPU_TIMES, DELTAS};
    use arrow_array::{Int64Array, UInt32Array, UInt64Array};

    fn why(result: Result<RecordBatch, RecordError>) -> String {
        result.expect_err("refused").to_string()
    }

    #[test]
    fn refuses_rows_that_are_not_as_declared() {
        let one: ArrayRef = Arc::new(UInt32Array::from(vec![1]));
        let two: ArrayRef = Arc::new(UInt32Array::from(vec![1, 2]));
        let signed: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let null: ArrayRef = Arc::new(UInt32Array::from(vec![None]));
        assert!(batch(&DELTAS, vec![one.clone(), one.clone()]).is_ok());
        assert!(why(batch(&DELTAS, vec![one.clone()])).contains("1 columns instead of 2"));
        assert!(why(batch(&DELTAS, vec![one.clone(), signed])).contains("Int64 instead of UInt32"));
        assert!(why(batch(&DELTAS, vec![one.clone(), null])).contains("1 nulls"));
        assert!(why(batch(&DELTAS, vec![one, two])).contains("deltas"));
    }

    #[test]
    fn a_null_is_allowed_where_it_is_declared() {
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from(vec![0]))];
        columns.extend((1..7).map(|_| Arc::new(UInt64Array::from(vec![None])) as ArrayRef));
        assert!(batch(&CPU_TIMES, columns).is_ok());
    }

    #[test]
    fn names_are_unique_and_every_unit_is_in_its_name() {
        for table in ALL {
            let mut names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns.len(), "{}", table.name);
            for column in table.columns {
                for unit in ["ns", "ticks"] {
                    let named = column.name.ends_with(&format!("_{unit}"));
                    assert_eq!(column.unit == unit, named, "{}.{}", table.name, column.name);
                }
            }
        }
    }
}
