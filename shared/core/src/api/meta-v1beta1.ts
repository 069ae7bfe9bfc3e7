import { field, required } from '../description/fields.ts'
import { defineTypes, object } from '../description/structs.ts'
import { list, ref } from '../description/values.ts'

/** The types of meta/v1beta1. */
export const metaV1beta1 = defineTypes({
  PartialObjectMetadata: () => ref('meta/v1.PartialObjectMetadata'),
  PartialObjectMetadataList: object('A list of objects of any kind, reduced to their metadata.', () => ({
    metadata: field(ref('meta/v1.ListMeta'), 2, {
      doc: 'Standard metadata of the list: its revision, and the continue token if a limit cut it off.',
    }),
    items: required(list(ref('meta/v1.PartialObjectMetadata')), 1, 'The metadata of each object.'),
  })),
  Table: () => ref('meta/v1.Table'),
  TableColumnDefinition: () => ref('meta/v1.TableColumnDefinition'),
  TableOptions: () => ref('meta/v1.TableOptions'),
  TableRow: () => ref('meta/v1.TableRow'),
  TableRowCondition: () => ref('meta/v1.TableRowCondition'),
})
