import { defineTypes, field, known, list, object, ref, required, string, struct } from '../description/define.ts'
import { metadata, objectList } from './common.ts'

/** The types of storagemigration/v1. */
export const storagemigrationV1 = defineTypes({
  MigrationConditionType: () => known('Running', 'Succeeded', 'Failed'),
  StorageVersionMigration: () =>
    object(
      {
        metadata,
        spec: field(ref('storagemigration/v1.StorageVersionMigrationSpec'), {
          tag: 2,
          isImmutable: true,
          doc: 'Resource whose objects are stored again.',
        }),
        status: field(ref('storagemigration/v1.StorageVersionMigrationStatus'), { tag: 3, doc: 'Progress of the migration.' }),
      },
      { doc: 'A request to store all objects of a resource again, in the present storage version and with the present encryption key.' },
    ),
  StorageVersionMigrationList: () => objectList('storagemigration/v1.StorageVersionMigration'),
  StorageVersionMigrationSpec: () =>
    struct(
      {
        resource: required(ref('meta/v1.GroupResource'), { tag: 1, doc: 'The resource whose objects are rewritten. Immutable.' }),
      },
      { doc: 'Resource whose objects are stored again.' },
    ),
  StorageVersionMigrationStatus: () =>
    struct(
      {
        conditions: field(list(ref('meta/v1.Condition'), { uniqueBy: 'type', isPlacedSince: 37 }), {
          tag: 1,
          listType: 'map',
          listMapKeys: ['type'],
          patchStrategy: 'merge',
          patchMergeKey: 'type',
          doc: 'Running, Succeeded or Failed.',
        }),
        resourceVersion: field(string(), {
          tag: 2,
          doc: 'Revision of the list with which the migration has begun. Objects that are newer are stored in the present form already.',
        }),
      },
      { doc: 'Progress of the migration.' },
    ),
})
