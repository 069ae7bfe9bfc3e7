import { field, merged, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { known, string } from '../description/texts.ts'
import { list, ref } from '../description/values.ts'
import { metadata, objectList } from './common.ts'

/** The types of storagemigration/v1. */
export const storagemigrationV1 = defineTypes({
  MigrationConditionType: () => known('Running', 'Succeeded', 'Failed'),
  StorageVersionMigration: object(
    'A request to store all objects of a resource again, in the present storage version and with the present encryption key.',
    () => ({
      metadata,
      spec: field(ref('storagemigration/v1.StorageVersionMigrationSpec'), 2, {
        isImmutable: true,
        doc: 'Resource whose objects are stored again.',
      }),
      status: field(ref('storagemigration/v1.StorageVersionMigrationStatus'), 3, 'Progress of the migration.'),
    }),
  ),
  StorageVersionMigrationList: objectList('storagemigration/v1.StorageVersionMigration'),
  StorageVersionMigrationSpec: struct('Resource whose objects are stored again.', () => ({
    resource: required(ref('meta/v1.GroupResource'), 1, 'The resource whose objects are rewritten. Immutable.'),
  })),
  StorageVersionMigrationStatus: struct('Progress of the migration.', () => ({
    conditions: merged('type', list(ref('meta/v1.Condition'), { uniqueBy: 'type', isPlacedSince: 37 }), 1, 'Running, Succeeded or Failed.'),
    resourceVersion: field(string(), 2, {
      doc: 'Revision of the list with which the migration has begun. Objects that are newer are stored in the present form already.',
    }),
  })),
})
