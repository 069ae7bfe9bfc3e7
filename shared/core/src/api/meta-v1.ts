import { atomicSince30, checked, field, mergedSince30, noTag, pointer, required } from '../description/fields.ts'
import { atomicStruct, defineTypes, object, struct } from '../description/structs.ts'
import { known, only, string, text, valuesByLevel } from '../description/texts.ts'
import { boolean, fieldsV1, int32, int64, json, list, map, raw, ref, time, wrapped } from '../description/values.ts'
import { gated, listMetadata, metadata } from './common.ts'

const dryRun = (tag: number) =>
  atomicSince30(
    list(string()),
    tag,
    'With the value All, the request is checked and answered but nothing is stored. No other value is allowed.',
  )

const fieldValidation = (tag: number) =>
  field(
    string(),
    tag,
    'Treatment of unknown or repeated fields: Ignore drops them, Warn drops them with a warning (the default), Strict refuses the request.',
  )

/** The types of metadata, lists, options and answers, which all groups share. */
export const metaV1 = defineTypes({
  APIGroup: object('A group of resources, with the versions in which the server offers it.', () => ({
    name: required(string(), 1, 'Name of the group. The legacy group has the empty name.'),
    versions: atomicSince30(list(ref('meta/v1.GroupVersionForDiscovery')), 2, {
      required: true,
      doc: 'Every version of the group that the server serves.',
    }),
    preferredVersion: field(
      ref('meta/v1.GroupVersionForDiscovery'),
      3,
      'The version that the server suggests to clients that can use any of them.',
    ),
    serverAddressByClientCIDRs: atomicSince30(
      list(ref('meta/v1.ServerAddressByClientCIDR')),
      4,
      'Addresses at which a client can reach the server, by the network the client comes from. The first match wins.',
    ),
  })),
  APIGroupList: object('The groups that the server serves, as answered at /apis.', () => ({
    groups: atomicSince30(list(ref('meta/v1.APIGroup')), 1, { required: true, doc: 'All groups, with their versions.' }),
  })),
  APIResource: struct('One resource or subresource of a group version, as discovery shows it.', () => ({
    name: required(string(), 1, 'Plural name as used in paths. A subresource is written resource/subresource.'),
    singularName: required(string(), 6, 'Singular name, for people who type it.'),
    namespaced: required(boolean(), 2, 'True if objects of the resource live in a namespace.'),
    group: field(string(), 8, 'Group of the kind, where it differs from that of the list around it. Empty means the same group.'),
    version: field(string(), 9, 'Version of the kind, where it differs from that of the list around it. Empty means the same version.'),
    kind: required(string(), 3, "Kind of the resource's objects."),
    verbs: required(wrapped(string()), 4, 'Verbs of the resource: get, list, watch, create, update, patch, delete, deletecollection.'),
    shortNames: atomicSince30(list(string()), 5, 'Abbreviations that command lines accept in place of the name.'),
    categories: atomicSince30(list(string()), 7, 'Collections that the resource is part of, such as all.'),
    storageVersionHash: field(
      string(),
      10,
      'Hash of the form in which objects are stored. Equal hashes mean the same stored form; the value has no other meaning.',
    ),
  })),
  APIResourceList: object('The resources of one group version, as discovery answers them.', () => ({
    groupVersion: required(string(), 1, 'The group version that the list is about.'),
    resources: atomicSince30(list(ref('meta/v1.APIResource')), 2, {
      required: true,
      doc: 'The resources and subresources, by name.',
    }),
  })),
  APIVersions: object('The versions of the legacy group, as answered at /api.', () => ({
    versions: atomicSince30(list(string()), 1, { required: true, doc: 'The versions that the server serves.' }),
    serverAddressByClientCIDRs: atomicSince30(list(ref('meta/v1.ServerAddressByClientCIDR')), 2, {
      required: true,
      doc: 'Addresses at which a client can reach the server, by the network the client comes from. The first match wins.',
    }),
  })),
  ApplyOptions: object('Options of a server-side apply request.', () => ({
    dryRun: dryRun(1),
    force: required(boolean(), 2, 'Takes over fields that other managers own with other values, instead of failing with a conflict.'),
    fieldManager: required(string(), 3, 'Name of the manager that will own the applied fields. Required.'),
  })),
  CauseType: () =>
    valuesByLevel(
      known(
        'FieldValueNotFound',
        'FieldValueRequired',
        'FieldValueDuplicate',
        'FieldValueInvalid',
        'FieldValueNotSupported',
        'UnexpectedServerResponse',
        'FieldManagerConflict',
        'ResourceVersionTooLarge',
        'FieldValueForbidden',
        'FieldValueTooLong',
        'FieldValueTooMany',
        'InternalError',
        'FieldValueTypeInvalid',
      ),
      { since: { FieldValueForbidden: 28, FieldValueTooLong: 28, FieldValueTooMany: 28, InternalError: 28, FieldValueTypeInvalid: 28 } },
    ),
  Condition: struct('One aspect of the current state of an object, with the time and the reason of its last change.', () => ({
    type: checked(text('qualifiedName'), 1, {
      required: true,
      changes: { 37: { needed: 'is required', isAlwaysChecked: undefined } },
      doc: 'Aspect that the condition describes, in CamelCase. An object has each type at most once.',
    }),
    status: checked(only(known('False', 'True', 'Unknown')), 2, {
      required: true,
      changes: { 34: { needed: true, isAlwaysChecked: undefined } },
      doc: 'True, False or Unknown.',
    }),
    observedGeneration: field(
      int64({ min: 0, detail: 'must be greater than or equal to zero' }),
      3,
      'The metadata.generation that the condition was derived from. If it is lower than the current one, the condition is out of date.',
    ),
    lastTransitionTime: required(time(), 4, {
      needed: 'must be set',
      changes: { 34: { needed: true } },
      doc: 'Time of the last change of the status from one value to another.',
    }),
    reason: required(text('reason', { bytesMax: 1024 }), 5, {
      needed: 'must be set',
      changes: { 34: { needed: true } },
      doc: 'Reason of the status in one CamelCase word, for programs.',
    }),
    message: required(string({ bytesMax: 32 * 1024 }), 6, 'Details of the last change, for people.'),
  })),
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  CreateOptions: object('Options of a create request.', () => ({
    dryRun: dryRun(1),
    fieldManager: field(
      string(),
      3,
      'Name of the program or person that makes the change, at most 128 printable characters. Defaults to the start of the user agent.',
    ),
    fieldValidation: fieldValidation(4),
  })),
  DeleteOptions: object('Options of a delete request, sent as its body or as query parameters.', () => ({
    gracePeriodSeconds: pointer(int64(), 1, 'Grace period in seconds. Zero deletes at once. Unset means the default of the kind.'),
    preconditions: pointer(ref('meta/v1.Preconditions'), 2, {
      doc: 'The delete is refused with a conflict unless the object matches these values.',
    }),
    orphanDependents: pointer(boolean(), 3, {
      doc: 'Deprecated; use propagationPolicy. True keeps dependents, false deletes them. Set at most one of the two fields.',
    }),
    propagationPolicy: pointer(ref('meta/v1.DeletionPropagation'), 4, {
      doc: 'Treatment of dependents: Orphan leaves them, Background deletes them afterwards, Foreground deletes them before the object itself.',
    }),
    dryRun: atomicSince30(
      list(string()),
      5,
      'With the value All, the request is checked and answered but nothing is deleted. No other value is allowed.',
    ),
    ignoreStoreReadErrorWithClusterBreakingPotential: pointer(boolean(), 6, {
      ...gated('AllowUnsafeMalformedObjectDeletion'),
      doc: 'True deletes an object that cannot be read from the store, without finalizers and graceful deletion. Dangerous.',
    }),
  })),
  DeletionPropagation: () => known('Orphan', 'Background', 'Foreground'),
  FieldSelectorOperator: () => known('In', 'NotIn', 'Exists', 'DoesNotExist'),
  FieldSelectorRequirement: struct('A requirement on the value of one field.', () => ({
    key: required(string(), 1, 'Path of the field.'),
    operator: required(string(), 2, 'Relation of the field to the values: In, NotIn, Exists or DoesNotExist.'),
    values: field(list(string()), 3, {
      changes: { 31: { listType: 'atomic' } },
      doc: 'Values to compare with. At least one for In and NotIn, none for Exists and DoesNotExist.',
    }),
  })),
  GetOptions: object('Options of a get request.', () => ({
    resourceVersion: field(string(), 1, 'Minimum revision of the answer. Empty asks for the newest state; 0 accepts any.'),
  })),
  GroupKind: struct('A group and a kind, without a version.', () => ({
    group: required(string(), 1, 'API group; empty for the legacy group.'),
    kind: required(string(), 2, 'Kind in CamelCase.'),
  })),
  GroupResource: struct('A group and a resource, without a version.', () => ({
    group: required(string(), 1, 'API group; empty for the legacy group.'),
    resource: required(string(), 2, 'Plural name of the resource.'),
  })),
  GroupVersion: struct('An API group at one version.', () => ({
    group: required(string(), 1, 'API group; empty for the legacy group.'),
    version: required(string(), 2, 'Version of the group.'),
  })),
  GroupVersionForDiscovery: struct(
    'A group version, also with its version as a separate field, so that clients need not split it.',
    () => ({
      groupVersion: required(string(), 1, 'Group and version joined by a slash; only the version for the legacy group.'),
      version: required(string(), 2, 'The version alone.'),
    }),
  ),
  GroupVersionKind: struct('Identifies a kind.', () => ({
    group: required(string(), 1, 'API group; empty for the legacy group.'),
    version: required(string(), 2, 'Version of the group.'),
    kind: required(string(), 3, 'Kind in CamelCase.'),
  })),
  GroupVersionResource: struct('Identifies a resource.', () => ({
    group: required(string(), 1, 'API group; empty for the legacy group.'),
    version: required(string(), 2, 'Version of the group.'),
    resource: required(string(), 3, 'Plural name of the resource.'),
  })),
  IncludeObjectPolicy: () => known('None', 'Metadata', 'Object'),
  LabelSelector: atomicStruct(
    'Chooses objects by their labels. All requirements must hold; an empty selector matches every object, an absent one matches none.',
    () => ({
      matchLabels: field(
        map(string()),
        1,
        'Labels that an object must have, with exactly these values. Each pair is the same as an In requirement with one value.',
      ),
      matchExpressions: atomicSince30(
        list(ref('meta/v1.LabelSelectorRequirement')),
        2,
        'Requirements that must all hold, in addition to matchLabels.',
      ),
    }),
  ),
  LabelSelectorOperator: () => known('In', 'NotIn', 'Exists', 'DoesNotExist'),
  LabelSelectorRequirement: struct('A requirement on the value of one label.', () => ({
    key: required(string(), 1, {
      patchStrategy: 'merge',
      patchMergeKey: 'key',
      changes: { 28: { patchStrategy: undefined, patchMergeKey: undefined } },
      doc: 'Key of the label.',
    }),
    operator: required(ref('meta/v1.LabelSelectorOperator'), 2, 'Relation of the label to the values: In, NotIn, Exists or DoesNotExist.'),
    values: atomicSince30(list(string()), 3, 'Values to compare with. At least one for In and NotIn, none for Exists and DoesNotExist.'),
  })),
  List: object('A list of objects of any kinds.', () => ({
    metadata: listMetadata,
    items: required(list(raw()), 2, 'The objects, each with its own kind and apiVersion.'),
  })),
  ListMeta: struct('Metadata that lists and some answers carry.', () => ({
    selfLink: field(string(), 1, 'No longer set by the server; kept for older data.'),
    resourceVersion: field(
      string(),
      2,
      'Revision of the whole list. A watch may begin from it. It is opaque and only useful to this server.',
    ),
    continue: field(
      string(),
      3,
      'If set, there are more objects; pass it to the next list request to get them. Expires after some minutes.',
    ),
    remainingItemCount: pointer(int64(), 4, {
      doc: 'Number of objects after this page. Unset if the server does not know it, for instance because a selector was used.',
    }),
    shardInfo: pointer(ref('meta/v1.ShardInfo'), 5, {
      ...gated('ShardedListAndWatch'),
      doc: 'Part of the collection that the list holds. Unset: all of it.',
    }),
  })),
  ListOptions: object('Options of list, watch and deletecollection requests.', () => ({
    labelSelector: field(string(), 1, 'Only objects whose labels match. Empty matches all.'),
    fieldSelector: field(string(), 2, 'Only objects whose fields match. Each kind defines the allowed fields. Empty matches all.'),
    watch: field(boolean(), 3, 'Answer with a stream of changes instead of a list.'),
    allowWatchBookmarks: field(
      boolean(),
      9,
      'True if the client accepts BOOKMARK events, which contain only a revision. Otherwise the server sends none.',
    ),
    resourceVersion: field(string(), 4, 'For a list the requested revision, for a watch the revision after which changes are sent.'),
    resourceVersionMatch: field(
      ref('meta/v1.ResourceVersionMatch'),
      10,
      'Meaning of resourceVersion in a list: NotOlderThan or Exact. Only allowed together with resourceVersion.',
    ),
    timeoutSeconds: pointer(int64(), 5, 'Seconds after which the call ends, whatever has happened.'),
    limit: field(int64(), 7, 'Maximum number of objects in the answer. If there are more, metadata.continue of the answer is set.'),
    continue: field(string(), 8, 'Token from the answer to an earlier list request with the same options, to get its next page.'),
    sendInitialEvents: pointer(boolean(), 11, {
      since: 27,
      doc: 'True begins a watch with the present objects as ADDED events, then a bookmark. Needs resourceVersionMatch NotOlderThan.',
    }),
    shardSelector: field(string(), 15, { ...gated('ShardedListAndWatch'), doc: 'Part of the collection to list or watch.' }),
  })),
  ManagedFieldsEntry: struct('Fields of an object that one manager owns, by one kind of operation and in one version of the API.', () => ({
    manager: field(string(), 1, 'Name of the program or person that owns the fields.'),
    operation: field(
      ref('meta/v1.ManagedFieldsOperationType'),
      2,
      'Operation that made the manager own the fields: Apply for server-side apply, Update for any other write.',
    ),
    apiVersion: field(string(), 3, 'The group version in which fieldsV1 names the fields.'),
    time: pointer(time(), 4, {
      doc: 'Time of the creation of the entry, or of the last change of its set of fields. Changes of values do not count.',
    }),
    fieldsType: field(string(), 6, 'Format of the set of fields. The only value is FieldsV1.'),
    fieldsV1: pointer(fieldsV1(), 7, 'The owned fields, as a tree of field names, list keys and set values.'),
    subresource: field(
      string(),
      8,
      'Subresource through which the fields were written; empty for the object itself. Part of the identity of the entry.',
    ),
  })),
  ManagedFieldsOperationType: () => known('Apply', 'Update'),
  ObjectMeta: struct('Metadata that every stored object has. Users set a part of it, and the server maintains the rest.', () => ({
    name: field(string(), 1, 'Name of the object, unique among the objects of its resource and namespace. Cannot be changed.'),
    generateName: field(
      string(),
      2,
      'Start of a name that the server completes with a random end, used when name is empty. The result may, rarely, exist already.',
    ),
    namespace: field(string(), 3, 'Namespace of the object; empty for kinds that have none. Cannot be changed.'),
    selfLink: field(string(), 4, 'No longer set by the server; kept for older data.'),
    uid: field(string(), 5, 'Unique identity of the object, assigned by the server. A later object of the same name has another identity.'),
    resourceVersion: field(
      string(),
      6,
      'Revision at which the object was last written. Sent with an update, it makes the update fail if the object has changed since.',
    ),
    generation: field(
      int64(),
      7,
      'Counts changes of the desired state; set by the server. Kinds with a status compare it with observedGeneration.',
    ),
    creationTimestamp: field(time(), 8, {
      changes: { 34: { omitsZero: true } },
      doc: 'CreationTimestamp is a timestamp of the server, in UTC: when it stored the object first.',
    }),
    deletionTimestamp: pointer(time(), 9, {
      doc: 'Time at which the object is to be deleted, set by the server on a delete that cannot finish at once. Once set it cannot be unset or moved to a later time.',
    }),
    deletionGracePeriodSeconds: pointer(int64(), 10, 'Grace period in seconds, set with deletionTimestamp. It can only be shortened.'),
    labels: field(map(string()), 11, 'Keys and values by which objects are grouped and selected.'),
    annotations: field(map(string()), 12, 'Keys and values that tools store with the object. Selectors cannot use them.'),
    ownerReferences: mergedSince30('uid', list(ref('meta/v1.OwnerReference')), 13, {
      doc: 'Objects that this object depends on. It is deleted when all of them are deleted. At most one owner is the controller.',
    }),
    finalizers: field(list(string()), 14, {
      patchStrategy: 'merge',
      changes: { 30: { listType: 'set' } },
      doc: 'Names of steps that must finish before the object is removed. The component that does a step removes its name. While the object is being deleted, names can only be removed.',
    }),
    managedFields: atomicSince30(
      list(ref('meta/v1.ManagedFieldsEntry')),
      17,
      'Owned fields of each manager, maintained by the server. Users may empty the list, but not edit it.',
    ),
  })),
  OwnerReference: atomicStruct(
    'Refers to an object that this object depends on. Both are in the same namespace, or the owner is cluster-scoped.',
    () => ({
      apiVersion: required(string(), 5, 'Group version of the owner.'),
      kind: required(string(), 1, 'Kind of the owner.'),
      name: required(string(), 3, 'Name of the owner.'),
      uid: required(string(), 4, 'Identity of the owner; a later object of the same name is not the owner.'),
      controller: pointer(boolean(), 6, 'True if the owner manages this object. At most one owner does.'),
      blockOwnerDeletion: pointer(boolean(), 7, {
        doc: 'True if a foreground deletion of the owner waits until this object is gone. Default: false.',
      }),
    }),
  ),
  PartialObjectMetadata: object('An object of any kind, reduced to its metadata.', () => ({ metadata })),
  PartialObjectMetadataList: object('A list of objects of any kind, reduced to their metadata.', () => ({
    metadata: listMetadata,
    items: required(list(ref('meta/v1.PartialObjectMetadata')), 2, 'The metadata of each object.'),
  })),
  Patch: struct(
    'The body of a patch request. Its form depends on the media type: JSON patch, merge patch, strategic merge patch or apply.',
    () => ({}),
  ),
  PatchOptions: object('Options of a patch request.', () => ({
    dryRun: dryRun(1),
    force: pointer(boolean(), 2, {
      doc: 'Takes over fields that other managers own, instead of failing with a conflict. Only allowed for apply patches.',
    }),
    fieldManager: field(
      string(),
      3,
      'Name of the program or person that makes the change. Required for apply patches; otherwise it defaults to the start of the user agent.',
    ),
    fieldValidation: fieldValidation(4),
  })),
  Preconditions: struct('Values that an object must have for a request to proceed.', () => ({
    uid: pointer(string(), 1, 'Identity that the object must have.'),
    resourceVersion: pointer(string(), 2, 'Revision that the object must have.'),
  })),
  ResourceVersionMatch: () => known('NotOlderThan', 'Exact'),
  RootPaths: struct('The paths that the server answers, as listed at its root.', () => ({
    paths: atomicSince30(list(string()), 1, { required: true, doc: 'The paths, in alphabetical order.' }),
  })),
  RowConditionType: () => known('Completed'),
  ServerAddressByClientCIDR: struct('The address at which clients of one network reach the server.', () => ({
    clientCIDR: required(string(), 1, 'Network of the clients, in CIDR notation.'),
    serverAddress: required(string(), 2, 'Address for these clients: a host name, IP, or either with a port.'),
  })),
  ShardInfo: struct({ since: 36, doc: 'Part of a collection.' }, () => ({
    selector: required(string(), 1, 'The selector of the request.'),
  })),
  Status: object('The outcome of a request that does not return an object, usually an error.', () => ({
    metadata: listMetadata,
    status: field(string(), 2, 'Success or Failure.'),
    message: field(string(), 3, 'Description for people.'),
    reason: field(
      ref('meta/v1.StatusReason'),
      4,
      'One word for the kind of failure, for programs. It explains the HTTP code but does not replace it.',
    ),
    details: pointer(ref('meta/v1.StatusDetails'), 5, {
      changes: { 30: { listType: 'atomic' }, 35: { listType: undefined } },
      doc: 'More about the failure: the object it is about and the causes. Which of its fields are set depends on the reason.',
    }),
    code: field(int32(), 6, 'HTTP status code of the answer; 0 if not set.'),
  })),
  StatusCause: struct('One of the causes of a failure, such as one invalid field.', () => ({
    reason: field(ref('meta/v1.CauseType'), 1, 'One word for the cause, for programs.'),
    message: field(string(), 2, 'Description of the cause for people.'),
    field: field(string(), 3, 'Path of the field that is the cause, as in spec.containers[0].name. May be empty.'),
  })),
  StatusDetails: struct('Details of a failure.', () => ({
    name: field(string(), 1, 'Name of the object.'),
    group: field(string(), 2, 'API group of the resource.'),
    kind: field(string(), 3, 'Kind, or plural resource name, of the object.'),
    uid: field(string(), 6, 'Identity of the object, if the failure is about one.'),
    causes: atomicSince30(list(ref('meta/v1.StatusCause')), 4, 'All known causes of the failure.'),
    retryAfterSeconds: field(int32(), 5, 'Seconds to wait before trying again. Set only where trying again makes sense.'),
  })),
  StatusReason: () =>
    valuesByLevel(
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
        'StorageReadError',
      ),
      { since: { StorageReadError: 32 } },
    ),
  Table: object({ hasNoProtobuf: true, doc: 'Objects as rows and columns, ready to be printed.' }, () => ({
    metadata: field(ref('meta/v1.ListMeta'), noTag, {
      doc: 'Standard metadata of the list: its revision, and the continue token if a limit cut it off.',
    }),
    columnDefinitions: atomicSince30(list(ref('meta/v1.TableColumnDefinition')), noTag, {
      required: true,
      doc: 'The columns, in order. Every row has as many cells.',
    }),
    rows: atomicSince30(list(ref('meta/v1.TableRow')), noTag, { required: true, doc: 'The rows, one for each object.' }),
  })),
  TableColumnDefinition: struct({ hasNoProtobuf: true, doc: 'A column of a table.' }, () => ({
    name: required(string(), noTag, 'Heading of the column.'),
    type: required(string(), noTag, 'Type of the cells, as in OpenAPI: string, integer, number, boolean, date.'),
    format: required(string(), noTag, 'Format of the type, as in OpenAPI. The column with the format name identifies a row.'),
    description: required(string(), noTag, 'Description of the column.'),
    priority: required(int32(), noTag, {
      doc: '0 for columns that are always shown. Columns with higher numbers are omitted first when there is little space.',
    }),
  })),
  TableOptions: object('Options of a request that asks for a table.', () => ({
    includeObject: field(ref('meta/v1.IncludeObjectPolicy'), 1, 'Part of the object in each row: None, Metadata (the default) or Object.'),
  })),
  TableRow: struct({ hasNoProtobuf: true, doc: 'A row of a table.' }, () => ({
    cells: atomicSince30(list(json()), noTag, {
      required: true,
      doc: 'One value for each column. A cell may be a string, number, boolean, list, object or null.',
    }),
    conditions: atomicSince30(list(ref('meta/v1.TableRowCondition')), noTag, {
      doc: 'Facts about the whole row, such as that its object has finished.',
    }),
    object: field(raw(), noTag, 'The object of the row, or the part that includeObject selects.'),
  })),
  TableRowCondition: struct({ hasNoProtobuf: true, doc: 'A condition of a row.' }, () => ({
    type: required(ref('meta/v1.RowConditionType'), noTag, {
      doc: 'Aspect that the condition describes. Completed means that the object has run to its end.',
    }),
    status: required(ref('meta/v1.ConditionStatus'), noTag, 'True, False or Unknown.'),
    reason: field(string(), noTag, 'Reason of the status in one CamelCase word, for programs.'),
    message: field(string(), noTag, 'Details of the last change, for people.'),
  })),
  Timestamp: struct('A point in time, counted from the start of 1970 in UTC.', () => ({
    seconds: required(int64(), 1, 'Whole seconds.'),
    nanos: required(int32(), 2, 'Nanoseconds within the second, from 0 to 999,999,999.'),
  })),
  TypeMeta: struct('The kind of an object and the group version it is written in.', () => ({
    kind: field(string(), 1, 'Kind of the object, in CamelCase.'),
    apiVersion: field(string(), 2, 'Group version in which the object is written.'),
  })),
  UpdateOptions: object('Options of an update request.', () => ({
    dryRun: dryRun(1),
    fieldManager: field(
      string(),
      2,
      'Name of the program or person that makes the change, at most 128 printable characters. Defaults to the start of the user agent.',
    ),
    fieldValidation: fieldValidation(3),
  })),
  WatchEvent: struct('One message of a watch.', () => ({
    type: required(string(), 1, 'ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.'),
    object: required(
      raw(),
      2,
      'The object after the change, before it was deleted, or, for an error, a Status. A bookmark has only a revision.',
    ),
  })),
})
