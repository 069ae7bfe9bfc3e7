import { field, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { known, string } from '../description/texts.ts'
import { int64, list, ref, time } from '../description/values.ts'
import { objectList, requiredUntil } from './common.ts'

/** The types of apiserverinternal/v1alpha1. */
export const apiserverinternalV1alpha1 = defineTypes({
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ServerStorageVersion: struct('Storage version of a resource in one server.', () => ({
    apiServerID: field(string(), 1, { changes: { 36: { listedAsRequired: true } }, doc: 'Identity of the server.' }),
    encodingVersion: field(string(), 2, {
      changes: { 36: { listedAsRequired: true } },
      doc: 'Version in which the server writes objects.',
    }),
    decodableVersions: field(list(string()), 3, {
      listType: 'set',
      changes: { 36: { listedAsRequired: true } },
      doc: 'Versions that the server can read, including the version that it writes.',
    }),
    servedVersions: field(list(string()), 4, {
      listType: 'set',
      since: 28,
      doc: 'Versions of the API in which the server serves the kind. It can decode all of them.',
    }),
  })),
  StorageVersion: object("Storage versions of a resource in the servers of the cluster. The object's name is group.resource.", () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, {
      changes: { 36: { listedAsRequired: true } },
      doc: 'Standard metadata of the object: its name, labels, annotations and fields that the server maintains.',
    }),
    spec: field(ref('apiserverinternal/v1alpha1.StorageVersionSpec'), 2, { ...requiredUntil(35), doc: 'Always empty.' }),
    status: field(ref('apiserverinternal/v1alpha1.StorageVersionStatus'), 3, {
      ...requiredUntil(35),
      doc: 'Storage version in each server.',
    }),
  })),
  StorageVersionCondition: struct('One aspect of how a resource is stored.', () => ({
    type: required(ref('apiserverinternal/v1alpha1.StorageVersionConditionType'), 1, {
      doc: 'Aspect that the condition describes, such as AllEncodingVersionsEqual.',
    }),
    status: required(ref('apiserverinternal/v1alpha1.ConditionStatus'), 2, 'True, False or Unknown.'),
    observedGeneration: field(int64(), 3, {
      doc: 'The metadata.generation that the condition was derived from. If it is behind, the condition is out of date.',
    }),
    lastTransitionTime: field(time(), 4, 'Time of the last change of the status from one value to another.'),
    reason: required(string(), 5, 'Reason of the status in one CamelCase word, for programs.'),
    message: field(string(), 6, { changes: { 30: { listedAsRequired: true } }, doc: 'Details of the last change, for people.' }),
  })),
  StorageVersionConditionType: () => known('AllEncodingVersionsEqual'),
  StorageVersionList: objectList('apiserverinternal/v1alpha1.StorageVersion'),
  StorageVersionSpec: struct('Always empty.', () => ({})),
  StorageVersionStatus: struct('Storage versions of a resource in all servers.', () => ({
    storageVersions: field(list(ref('apiserverinternal/v1alpha1.ServerStorageVersion')), 1, {
      listType: 'map',
      listMapKeys: ['apiServerID'],
      doc: 'Storage version in each server.',
    }),
    commonEncodingVersion: pointer(string(), 2, 'Version that all servers write, if they agree.'),
    conditions: field(list(ref('apiserverinternal/v1alpha1.StorageVersionCondition')), 3, {
      listType: 'map',
      listMapKeys: ['type'],
      doc: 'State by aspect.',
    }),
  })),
})
