import {
  boolean,
  defineTypes,
  field,
  fieldsV1,
  int32,
  int64,
  json,
  known,
  list,
  map,
  object,
  raw,
  ref,
  string,
  struct,
  time,
  wrapped,
} from '../schema/define.ts'

/** The types of the metadata, lists, options and answers that every group shares: one definition each, read by everything that knows a type. */
export const metaV1 = defineTypes({
  APIGroup: () =>
    object({
      name: field(string(), { tag: 1, required: true }),
      versions: field(list(ref('meta/v1.GroupVersionForDiscovery')), { tag: 2, required: true }),
      preferredVersion: field(ref('meta/v1.GroupVersionForDiscovery'), { tag: 3 }),
      serverAddressByClientCIDRs: field(list(ref('meta/v1.ServerAddressByClientCIDR')), { tag: 4 }),
    }),
  APIGroupList: () =>
    object({
      groups: field(list(ref('meta/v1.APIGroup')), { tag: 1, required: true }),
    }),
  APIResource: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      singularName: field(string(), { tag: 6, required: true }),
      namespaced: field(boolean(), { tag: 2, required: true }),
      group: field(string(), { tag: 8 }),
      version: field(string(), { tag: 9 }),
      kind: field(string(), { tag: 3, required: true }),
      verbs: field(wrapped(string()), { tag: 4, required: true }),
      shortNames: field(list(string()), { tag: 5 }),
      categories: field(list(string()), { tag: 7 }),
      storageVersionHash: field(string(), { tag: 10 }),
    }),
  APIResourceList: () =>
    object({
      groupVersion: field(string(), { tag: 1, required: true }),
      resources: field(list(ref('meta/v1.APIResource')), { tag: 2, required: true }),
    }),
  APIVersions: () =>
    object({
      versions: field(list(string()), { tag: 1, required: true }),
      serverAddressByClientCIDRs: field(list(ref('meta/v1.ServerAddressByClientCIDR')), { tag: 2, required: true }),
    }),
  ApplyOptions: () =>
    object({
      dryRun: field(list(string()), { tag: 1 }),
      force: field(boolean(), { tag: 2, required: true }),
      fieldManager: field(string(), { tag: 3, required: true }),
    }),
  CauseType: () =>
    known(
      'FieldValueNotFound',
      'FieldValueRequired',
      'FieldValueDuplicate',
      'FieldValueInvalid',
      'FieldValueNotSupported',
      'UnexpectedServerResponse',
      'FieldManagerConflict',
      'ResourceVersionTooLarge',
    ),
  Condition: () =>
    struct({
      type: field(string(), { tag: 1, required: true }),
      status: field(ref('meta/v1.ConditionStatus'), { tag: 2, required: true }),
      observedGeneration: field(int64(), { tag: 3 }),
      lastTransitionTime: field(time(), { tag: 4, required: true }),
      reason: field(string(), { tag: 5, required: true }),
      message: field(string(), { tag: 6, required: true }),
    }),
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  CreateOptions: () =>
    object({
      dryRun: field(list(string()), { tag: 1 }),
      fieldManager: field(string(), { tag: 3 }),
      fieldValidation: field(string(), { tag: 4 }),
    }),
  DeleteOptions: () =>
    object({
      gracePeriodSeconds: field(int64(), { tag: 1, pointer: true }),
      preconditions: field(ref('meta/v1.Preconditions'), { tag: 2, pointer: true }),
      orphanDependents: field(boolean(), { tag: 3, pointer: true }),
      propagationPolicy: field(ref('meta/v1.DeletionPropagation'), { tag: 4, pointer: true }),
      dryRun: field(list(string()), { tag: 5 }),
    }),
  DeletionPropagation: () => known('Orphan', 'Background', 'Foreground'),
  GetOptions: () =>
    object({
      resourceVersion: field(string(), { tag: 1 }),
    }),
  GroupKind: () =>
    struct({
      group: field(string(), { tag: 1, required: true }),
      kind: field(string(), { tag: 2, required: true }),
    }),
  GroupResource: () =>
    struct({
      group: field(string(), { tag: 1, required: true }),
      resource: field(string(), { tag: 2, required: true }),
    }),
  GroupVersion: () =>
    struct({
      group: field(string(), { tag: 1, required: true }),
      version: field(string(), { tag: 2, required: true }),
    }),
  GroupVersionForDiscovery: () =>
    struct({
      groupVersion: field(string(), { tag: 1, required: true }),
      version: field(string(), { tag: 2, required: true }),
    }),
  GroupVersionKind: () =>
    struct({
      group: field(string(), { tag: 1, required: true }),
      version: field(string(), { tag: 2, required: true }),
      kind: field(string(), { tag: 3, required: true }),
    }),
  GroupVersionResource: () =>
    struct({
      group: field(string(), { tag: 1, required: true }),
      version: field(string(), { tag: 2, required: true }),
      resource: field(string(), { tag: 3, required: true }),
    }),
  IncludeObjectPolicy: () => known('None', 'Metadata', 'Object'),
  LabelSelector: () =>
    struct(
      {
        matchLabels: field(map(string()), { tag: 1 }),
        matchExpressions: field(list(ref('meta/v1.LabelSelectorRequirement')), { tag: 2 }),
      },
      { structType: 'atomic' },
    ),
  LabelSelectorOperator: () => known('In', 'NotIn', 'Exists', 'DoesNotExist'),
  LabelSelectorRequirement: () =>
    struct({
      key: field(string(), { tag: 1, required: true, patchStrategy: 'merge', patchMergeKey: 'key' }),
      operator: field(ref('meta/v1.LabelSelectorOperator'), { tag: 2, required: true }),
      values: field(list(string()), { tag: 3 }),
    }),
  List: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(raw()), { tag: 2, required: true }),
    }),
  ListMeta: () =>
    struct({
      selfLink: field(string(), { tag: 1 }),
      resourceVersion: field(string(), { tag: 2 }),
      continue: field(string(), { tag: 3 }),
      remainingItemCount: field(int64(), { tag: 4, pointer: true }),
    }),
  ListOptions: () =>
    object({
      labelSelector: field(string(), { tag: 1 }),
      fieldSelector: field(string(), { tag: 2 }),
      watch: field(boolean(), { tag: 3 }),
      allowWatchBookmarks: field(boolean(), { tag: 9 }),
      resourceVersion: field(string(), { tag: 4 }),
      resourceVersionMatch: field(ref('meta/v1.ResourceVersionMatch'), { tag: 10 }),
      timeoutSeconds: field(int64(), { tag: 5, pointer: true }),
      limit: field(int64(), { tag: 7 }),
      continue: field(string(), { tag: 8 }),
    }),
  ManagedFieldsEntry: () =>
    struct({
      manager: field(string(), { tag: 1 }),
      operation: field(ref('meta/v1.ManagedFieldsOperationType'), { tag: 2 }),
      apiVersion: field(string(), { tag: 3 }),
      time: field(time(), { tag: 4, pointer: true }),
      fieldsType: field(string(), { tag: 6 }),
      fieldsV1: field(fieldsV1(), { tag: 7, pointer: true }),
      subresource: field(string(), { tag: 8 }),
    }),
  ManagedFieldsOperationType: () => known('Apply', 'Update'),
  ObjectMeta: () =>
    struct({
      name: field(string(), { tag: 1 }),
      generateName: field(string(), { tag: 2 }),
      namespace: field(string(), { tag: 3 }),
      selfLink: field(string(), { tag: 4 }),
      uid: field(string(), { tag: 5 }),
      resourceVersion: field(string(), { tag: 6 }),
      generation: field(int64(), { tag: 7 }),
      creationTimestamp: field(time(), { tag: 8 }),
      deletionTimestamp: field(time(), { tag: 9, pointer: true }),
      deletionGracePeriodSeconds: field(int64(), { tag: 10, pointer: true }),
      labels: field(map(string()), { tag: 11 }),
      annotations: field(map(string()), { tag: 12 }),
      ownerReferences: field(list(ref('meta/v1.OwnerReference')), { tag: 13, patchStrategy: 'merge', patchMergeKey: 'uid' }),
      finalizers: field(list(string()), { tag: 14, patchStrategy: 'merge' }),
      managedFields: field(list(ref('meta/v1.ManagedFieldsEntry')), { tag: 17 }),
    }),
  OwnerReference: () =>
    struct(
      {
        apiVersion: field(string(), { tag: 5, required: true }),
        kind: field(string(), { tag: 1, required: true }),
        name: field(string(), { tag: 3, required: true }),
        uid: field(string(), { tag: 4, required: true }),
        controller: field(boolean(), { tag: 6, pointer: true }),
        blockOwnerDeletion: field(boolean(), { tag: 7, pointer: true }),
      },
      { structType: 'atomic' },
    ),
  PartialObjectMetadata: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
    }),
  PartialObjectMetadataList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('meta/v1.PartialObjectMetadata')), { tag: 2, required: true }),
    }),
  Patch: () => struct({}),
  PatchOptions: () =>
    object({
      dryRun: field(list(string()), { tag: 1 }),
      force: field(boolean(), { tag: 2, pointer: true }),
      fieldManager: field(string(), { tag: 3 }),
      fieldValidation: field(string(), { tag: 4 }),
    }),
  Preconditions: () =>
    struct({
      uid: field(string(), { tag: 1, pointer: true }),
      resourceVersion: field(string(), { tag: 2, pointer: true }),
    }),
  ResourceVersionMatch: () => known('NotOlderThan', 'Exact'),
  RootPaths: () =>
    struct({
      paths: field(list(string()), { tag: 1, required: true }),
    }),
  RowConditionType: () => known('Completed'),
  ServerAddressByClientCIDR: () =>
    struct({
      clientCIDR: field(string(), { tag: 1, required: true }),
      serverAddress: field(string(), { tag: 2, required: true }),
    }),
  Status: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      status: field(string(), { tag: 2 }),
      message: field(string(), { tag: 3 }),
      reason: field(ref('meta/v1.StatusReason'), { tag: 4 }),
      details: field(ref('meta/v1.StatusDetails'), { tag: 5, pointer: true }),
      code: field(int32(), { tag: 6 }),
    }),
  StatusCause: () =>
    struct({
      reason: field(ref('meta/v1.CauseType'), { tag: 1 }),
      message: field(string(), { tag: 2 }),
      field: field(string(), { tag: 3 }),
    }),
  StatusDetails: () =>
    struct({
      name: field(string(), { tag: 1 }),
      group: field(string(), { tag: 2 }),
      kind: field(string(), { tag: 3 }),
      uid: field(string(), { tag: 6 }),
      causes: field(list(ref('meta/v1.StatusCause')), { tag: 4 }),
      retryAfterSeconds: field(int32(), { tag: 5 }),
    }),
  StatusReason: () =>
    known(
      '',
      'Unauthorized',
      'Forbidden',
      'NotFound',
      'AlreadyExists',
      'Conflict',
      'Gone',
      'Invalid',
      'ServerTimeout',
      'Timeout',
      'TooManyRequests',
      'BadRequest',
      'MethodNotAllowed',
      'NotAcceptable',
      'RequestEntityTooLarge',
      'UnsupportedMediaType',
      'InternalError',
      'Expired',
      'ServiceUnavailable',
    ),
  Table: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta')),
        columnDefinitions: field(list(ref('meta/v1.TableColumnDefinition')), { required: true }),
        rows: field(list(ref('meta/v1.TableRow')), { required: true }),
      },
      { noProtobuf: true },
    ),
  TableColumnDefinition: () =>
    struct(
      {
        name: field(string(), { required: true }),
        type: field(string(), { required: true }),
        format: field(string(), { required: true }),
        description: field(string(), { required: true }),
        priority: field(int32(), { required: true }),
      },
      { noProtobuf: true },
    ),
  TableOptions: () =>
    object({
      includeObject: field(ref('meta/v1.IncludeObjectPolicy'), { tag: 1 }),
    }),
  TableRow: () =>
    struct(
      {
        cells: field(list(json()), { required: true }),
        conditions: field(list(ref('meta/v1.TableRowCondition'))),
        object: field(raw()),
      },
      { noProtobuf: true },
    ),
  TableRowCondition: () =>
    struct(
      {
        type: field(ref('meta/v1.RowConditionType'), { required: true }),
        status: field(ref('meta/v1.ConditionStatus'), { required: true }),
        reason: field(string()),
        message: field(string()),
      },
      { noProtobuf: true },
    ),
  Timestamp: () =>
    struct({
      seconds: field(int64(), { tag: 1, required: true }),
      nanos: field(int32(), { tag: 2, required: true }),
    }),
  TypeMeta: () =>
    struct({
      kind: field(string(), { tag: 1 }),
      apiVersion: field(string(), { tag: 2 }),
    }),
  UpdateOptions: () =>
    object({
      dryRun: field(list(string()), { tag: 1 }),
      fieldManager: field(string(), { tag: 2 }),
      fieldValidation: field(string(), { tag: 3 }),
    }),
  WatchEvent: () =>
    struct({
      type: field(string(), { tag: 1, required: true }),
      object: field(raw(), { tag: 2, required: true }),
    }),
})
