import {
  atomic,
  atomicSince30,
  boolean,
  bytes,
  closed,
  defineTypes,
  double,
  field,
  int32,
  int64,
  json,
  known,
  list,
  map,
  merged,
  object,
  pointer,
  raw,
  ref,
  required,
  string,
  struct,
  valuesByLevel,
  variant,
} from '../description/define.ts'
import { lastChange, metadata, objectList } from './common.ts'

/** The types of apiextensions/v1. */
export const apiextensionsV1 = defineTypes({
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ConversionRequest: struct('Objects to convert.', () => ({
    uid: required(string(), { tag: 1, doc: 'Identity of this question, which the answer repeats.' }),
    desiredAPIVersion: required(string(), { tag: 2, doc: 'Group version that is wanted.' }),
    objects: atomicSince30(list(raw()), { tag: 3, required: true, doc: 'The objects.' }),
  })),
  ConversionResponse: struct('Objects that were converted.', () => ({
    uid: required(string(), { tag: 1, doc: 'Identity of the question.' }),
    convertedObjects: atomicSince30(list(raw()), { tag: 2, required: true, doc: 'The objects, in the order of the question.' }),
    result: required(ref('meta/v1.Status'), { tag: 3, doc: 'Success, or the reason of the failure.' }),
  })),
  ConversionReview: object('A question to a conversion webhook, and its answer.', () => ({
    request: pointer(ref('apiextensions/v1.ConversionRequest'), { tag: 1, doc: 'The question.' }),
    response: pointer(ref('apiextensions/v1.ConversionResponse'), { tag: 2, doc: 'The answer.' }),
  })),
  ConversionStrategyType: () => known('None', 'Webhook'),
  CustomResourceColumnDefinition: struct('A column of the tables of a resource.', () => ({
    name: required(string(), { tag: 1, doc: 'Heading of the column.' }),
    type: required(string(), { tag: 2, doc: 'Type of the cells, as in OpenAPI.' }),
    format: field(string(), { tag: 3, doc: 'Format of the type, as in OpenAPI. The column with the format name identifies a row.' }),
    description: field(string(), { tag: 4, doc: 'Description of the column.' }),
    priority: field(int32(), {
      tag: 5,
      doc: '0 for columns that are always shown. Columns with higher numbers are omitted first when there is little space.',
    }),
    jsonPath: required(string(), { tag: 6, doc: 'Path of the value in the object, beginning with a dot.' }),
  })),
  CustomResourceConversion: struct('Conversion of objects between versions.', () => ({
    strategy: required(ref('apiextensions/v1.ConversionStrategyType'), {
      tag: 1,
      doc: 'None changes apiVersion only; Webhook asks a service.',
    }),
    webhook: pointer(ref('apiextensions/v1.WebhookConversion'), { tag: 2, doc: 'The service, for Webhook.' }),
  })),
  CustomResourceDefinition: object('Adds a custom resource to the API. It must be named plural.group.', () => ({
    metadata,
    spec: required(ref('apiextensions/v1.CustomResourceDefinitionSpec'), { tag: 2, doc: 'The resource.' }),
    status: field(ref('apiextensions/v1.CustomResourceDefinitionStatus'), {
      tag: 3,
      doc: 'Observed state of the definition, and its accepted names.',
    }),
  })),
  CustomResourceDefinitionCondition: struct("One aspect of a definition's state.", () => ({
    type: required(ref('apiextensions/v1.CustomResourceDefinitionConditionType'), {
      tag: 1,
      doc: 'Aspect that the condition describes, such as Established, NamesAccepted or Terminating.',
    }),
    status: required(ref('apiextensions/v1.ConditionStatus'), { tag: 2, doc: 'True, False or Unknown.' }),
    ...lastChange(3),
    observedGeneration: field(int64(), {
      tag: 6,
      featureGate: 'CRDObservedGenerationTracking',
      doc: 'Generation of the definition from which the condition was made.',
    }),
  })),
  CustomResourceDefinitionConditionType: () =>
    valuesByLevel(
      known(
        'Established',
        'NamesAccepted',
        'NonStructuralSchema',
        'Terminating',
        'KubernetesAPIApprovalPolicyConformant',
        'StorageMigrating',
      ),
      { since: { StorageMigrating: 36 } },
    ),
  CustomResourceDefinitionList: objectList('apiextensions/v1.CustomResourceDefinition'),
  CustomResourceDefinitionNames: struct('Names of a resource and its kind.', () => ({
    plural: required(string(), { tag: 1, doc: 'Plural name, used in paths. Lower case.' }),
    singular: field(string(), { tag: 2, doc: 'Singular name. Lower case. Default: the kind in lower case.' }),
    shortNames: atomicSince30(list(string()), { tag: 3, doc: 'Abbreviations that command lines accept. Lower case.' }),
    kind: required(string(), { tag: 4, doc: 'Kind of the objects, in CamelCase.' }),
    listKind: field(string(), { tag: 5, doc: 'Kind of lists. Default: the kind followed by List.' }),
    categories: atomicSince30(list(string()), { tag: 6, doc: 'Collections that the resource is part of, such as all.' }),
  })),
  CustomResourceDefinitionSpec: struct('A resource that is added to the API.', () => ({
    group: required(string(), { tag: 1, doc: "API group of the resource. It must be the end of the object's name." }),
    names: required(ref('apiextensions/v1.CustomResourceDefinitionNames'), { tag: 3, doc: 'Names of the resource and its kind.' }),
    scope: required(ref('apiextensions/v1.ResourceScope'), { tag: 4, doc: 'Namespaced for objects within namespaces, otherwise Cluster.' }),
    versions: atomicSince30(list(ref('apiextensions/v1.CustomResourceDefinitionVersion')), {
      tag: 7,
      required: true,
      doc: 'Versions of the resource. The order in which clients see them follows from their names.',
    }),
    conversion: pointer(ref('apiextensions/v1.CustomResourceConversion'), { tag: 9, doc: 'Conversion of objects between versions.' }),
    preserveUnknownFields: field(boolean(), {
      tag: 10,
      doc: 'Deprecated. Keeps fields that the schema does not name. Must be false; schemas state it instead.',
    }),
  })),
  CustomResourceDefinitionStatus: struct('Observed state of a definition.', () => ({
    conditions: field(list(ref('apiextensions/v1.CustomResourceDefinitionCondition')), {
      tag: 1,
      keepEmpty: true,
      listType: 'map',
      listMapKeys: ['type'],
      doc: 'State of the definition by aspect.',
    }),
    acceptedNames: field(ref('apiextensions/v1.CustomResourceDefinitionNames'), {
      tag: 2,
      keepEmpty: true,
      doc: 'Names under which the resource is served. They may differ from those asked for.',
    }),
    storedVersions: atomicSince30(list(string()), {
      tag: 3,
      keepEmpty: true,
      doc: 'Versions in which objects may be stored. They cannot be removed from the spec while they are listed here.',
    }),
    observedGeneration: field(int64(), {
      tag: 4,
      featureGate: 'CRDObservedGenerationTracking',
      doc: 'Generation of the definition from which the status was made.',
    }),
  })),
  CustomResourceDefinitionVersion: struct('A version of an added resource.', () => ({
    name: required(string(), { tag: 1, doc: 'Name of the version, such as v1 or v2beta1.' }),
    served: required(boolean(), { tag: 2, doc: 'True if clients can use the version.' }),
    storage: required(boolean(), {
      tag: 3,
      doc: 'True if objects are stored in this version. Exactly one version is the storage version.',
    }),
    deprecated: field(boolean(), { tag: 7, doc: 'True if clients that use the version are warned. Default: false.' }),
    deprecationWarning: pointer(string(), { tag: 8, doc: 'Text of the warning. Default: one made of the name of the version.' }),
    schema: pointer(ref('apiextensions/v1.CustomResourceValidation'), { tag: 4, doc: 'Schema of objects of the version.' }),
    subresources: pointer(ref('apiextensions/v1.CustomResourceSubresources'), { tag: 5, doc: 'Subresources of the version.' }),
    additionalPrinterColumns: atomicSince30(list(ref('apiextensions/v1.CustomResourceColumnDefinition')), {
      tag: 6,
      doc: 'Columns of tables. Default: the age.',
    }),
    selectableFields: atomic(list(ref('apiextensions/v1.SelectableField')), {
      tag: 9,
      featureGate: 'CustomResourceFieldSelectors',
      doc: 'Fields that field selectors may name, 8 at most.',
    }),
  })),
  CustomResourceSubresourceScale: struct('Paths of the values of the scale subresource in the object.', () => ({
    specReplicasPath: required(string(), { tag: 1, doc: 'Path of the desired number, below .spec.' }),
    statusReplicasPath: required(string(), { tag: 2, doc: 'Path of the current number, below .status.' }),
    labelSelectorPath: pointer(string(), {
      tag: 3,
      doc: 'Path of the label selector as text, below .spec or .status. Needed for autoscaling.',
    }),
  })),
  CustomResourceSubresourceStatus: struct('A status subresource. It has no settings.', () => ({})),
  CustomResourceSubresources: struct('Subresources of a resource.', () => ({
    status: pointer(ref('apiextensions/v1.CustomResourceSubresourceStatus'), {
      tag: 1,
      doc: 'Adds a status subresource; other writes then do not change the status.',
    }),
    scale: pointer(ref('apiextensions/v1.CustomResourceSubresourceScale'), { tag: 2, doc: 'Gives the resource a scale subresource.' }),
  })),
  CustomResourceValidation: struct('Schema of objects.', () => ({
    openAPIV3Schema: pointer(ref('apiextensions/v1.JSONSchemaProps'), { tag: 1, doc: 'The schema.' }),
  })),
  ExternalDocumentation: struct('Points to further documentation.', () => ({
    description: field(string(), { tag: 1, doc: 'Type of the path.' }),
    url: field(string(), { tag: 2, doc: 'Address of the documentation.' }),
  })),
  FieldValueErrorReason: () => closed('FieldValueRequired', 'FieldValueDuplicate', 'FieldValueInvalid', 'FieldValueForbidden'),
  JSONSchemaProps: struct("A schema, in OpenAPI's subset of JSON Schema, with a few additions.", () => ({
    id: field(string(), { tag: 1, doc: 'Not allowed.' }),
    $schema: field(string(), { tag: 2, protoName: 'schema', doc: 'Address of the version of JSON Schema.' }),
    $ref: pointer(string(), { tag: 3, protoName: 'ref', doc: 'Not allowed.' }),
    description: field(string(), { tag: 4, doc: 'Meaning of the value.' }),
    type: field(string(), { tag: 5, doc: 'Type of the value: object, array, string, integer, number or boolean.' }),
    format: field(string(), { tag: 6, doc: 'Format of the value. Known ones are checked, others ignored.' }),
    title: field(string(), { tag: 7, doc: 'Short name of the value.' }),
    default: pointer(json(), { tag: 8, doc: 'Value that is filled in when there is none.' }),
    maximum: pointer(double(), { tag: 9, doc: 'Greatest number.' }),
    exclusiveMaximum: field(boolean(), { tag: 10, doc: 'True if the greatest number itself is excluded.' }),
    minimum: pointer(double(), { tag: 11, doc: 'Least number.' }),
    exclusiveMinimum: field(boolean(), { tag: 12, doc: 'True if the least number itself is excluded.' }),
    maxLength: pointer(int64(), { tag: 13, doc: 'Greatest length of a string.' }),
    minLength: pointer(int64(), { tag: 14, doc: 'Least length of a string.' }),
    pattern: field(string(), { tag: 15, doc: 'Regular expression that a string must match.' }),
    maxItems: pointer(int64(), { tag: 16, doc: 'Greatest number of items.' }),
    minItems: pointer(int64(), { tag: 17, doc: 'Least number of items.' }),
    uniqueItems: field(boolean(), { tag: 18, doc: 'True if items must differ. Only false is allowed.' }),
    multipleOf: pointer(double(), { tag: 19, doc: 'Number that the value must be a multiple of.' }),
    enum: atomicSince30(list(json()), { tag: 20, doc: 'Values that are allowed.' }),
    maxProperties: pointer(int64(), { tag: 21, doc: 'Greatest number of properties.' }),
    minProperties: pointer(int64(), { tag: 22, doc: 'Least number of properties.' }),
    required: atomicSince30(list(string()), { tag: 23, doc: 'Required properties.' }),
    items: pointer(ref('apiextensions/v1.JSONSchemaPropsOrArray'), { tag: 24, doc: 'Schema of the items of an array.' }),
    allOf: atomicSince30(list(ref('apiextensions/v1.JSONSchemaProps')), { tag: 25, doc: 'Schemas that must all hold.' }),
    oneOf: atomicSince30(list(ref('apiextensions/v1.JSONSchemaProps')), { tag: 26, doc: 'Schemas of which exactly one must hold.' }),
    anyOf: atomicSince30(list(ref('apiextensions/v1.JSONSchemaProps')), { tag: 27, doc: 'Schemas of which at least one must hold.' }),
    not: pointer(ref('apiextensions/v1.JSONSchemaProps'), { tag: 28, doc: 'Schema that must not hold.' }),
    properties: field(map(ref('apiextensions/v1.JSONSchemaProps')), { tag: 29, doc: 'Schemas of properties, by name.' }),
    additionalProperties: pointer(ref('apiextensions/v1.JSONSchemaPropsOrBool'), {
      tag: 30,
      doc: 'Schema of all other properties. Not together with properties.',
    }),
    patternProperties: field(map(ref('apiextensions/v1.JSONSchemaProps')), { tag: 31, doc: 'Not allowed.' }),
    dependencies: field(map(ref('apiextensions/v1.JSONSchemaPropsOrStringArray')), { tag: 32, doc: 'Not allowed.' }),
    additionalItems: pointer(ref('apiextensions/v1.JSONSchemaPropsOrBool'), { tag: 33, doc: 'Not allowed.' }),
    definitions: field(map(ref('apiextensions/v1.JSONSchemaProps')), { tag: 34, doc: 'Not allowed.' }),
    externalDocs: pointer(ref('apiextensions/v1.ExternalDocumentation'), { tag: 35, doc: 'Further documentation.' }),
    example: pointer(json(), { tag: 36, doc: 'An example of the value.' }),
    nullable: field(boolean(), { tag: 37, doc: 'True if null is allowed. Default: false.' }),
    'x-kubernetes-preserve-unknown-fields': pointer(boolean(), {
      tag: 38,
      protoName: 'xKubernetesPreserveUnknownFields',
      doc: 'Keeps fields that the schema does not name, at any depth. Otherwise they are dropped.',
    }),
    'x-kubernetes-embedded-resource': field(boolean(), {
      tag: 39,
      protoName: 'xKubernetesEmbeddedResource',
      doc: 'The value is an object of the API, with apiVersion, kind and metadata.',
    }),
    'x-kubernetes-int-or-string': field(boolean(), {
      tag: 40,
      protoName: 'xKubernetesIntOrString',
      doc: 'The value is an integer or a string. No type is given then.',
    }),
    'x-kubernetes-list-map-keys': field(list(string()), {
      tag: 41,
      protoName: 'xKubernetesListMapKeys',
      changes: { 30: { listType: 'atomic' } },
      doc: 'Properties that identify an item in a list of type map.',
    }),
    'x-kubernetes-list-type': pointer(string(), {
      tag: 42,
      protoName: 'xKubernetesListType',
      doc: 'Merge strategy of lists: atomic (the default, as a whole), set (by value) or map (by keys).',
    }),
    'x-kubernetes-map-type': pointer(string(), {
      tag: 43,
      protoName: 'xKubernetesMapType',
      doc: 'Merge strategy of objects: granular (the default, by field) or atomic (as a whole).',
    }),
    'x-kubernetes-validations': merged('rule', list(ref('apiextensions/v1.ValidationRule')), {
      tag: 44,
      protoName: 'xKubernetesValidations',
      doc: 'Rules that the value must satisfy.',
    }),
  })),
  JSONSchemaPropsOrArray: () =>
    variant({
      object: { tag: 1, protoName: 'schema', node: ref('apiextensions/v1.JSONSchemaProps') },
      array: { tag: 2, protoName: 'jSONSchemas', node: list(ref('apiextensions/v1.JSONSchemaProps')) },
    }),
  JSONSchemaPropsOrBool: () =>
    variant({
      boolean: { tag: 1, protoName: 'allows', node: boolean() },
      object: { tag: 2, protoName: 'schema', node: ref('apiextensions/v1.JSONSchemaProps') },
    }),
  JSONSchemaPropsOrStringArray: () =>
    variant({
      object: { tag: 1, protoName: 'schema', node: ref('apiextensions/v1.JSONSchemaProps') },
      array: { tag: 2, protoName: 'property', node: list(string()) },
    }),
  ResourceScope: () => known('Cluster', 'Namespaced'),
  SelectableField: struct('A field that field selectors may name.', () => ({
    jsonPath: required(string(), {
      tag: 1,
      doc: 'Path of a string, boolean or integer outside of metadata, such as .spec.color. Array notation is not allowed.',
    }),
  })),
  ServiceReference: struct('Points to a service of the cluster that answers webhook calls.', () => ({
    namespace: required(string(), { tag: 1, doc: 'Namespace of the service. Required.' }),
    name: required(string(), { tag: 2, doc: 'Name of the service. Required.' }),
    path: pointer(string(), { tag: 3, doc: 'Path of the URL that is called.' }),
    port: pointer(int32(), { tag: 4, doc: 'Port of the service, from 1 to 65535. Default: 443.' }),
  })),
  ValidationRule: struct('A rule that a value must satisfy.', () => ({
    rule: required(string(), { tag: 1, doc: 'The rule, in the Common Expression Language, where self is the value. It must give true.' }),
    message: field(string(), { tag: 2, doc: 'Message of a failure. Default: a message made from the rule.' }),
    messageExpression: field(string(), {
      tag: 3,
      doc: 'Expression for the message, which must give a string. It takes precedence over message; when it fails, message is used.',
    }),
    reason: pointer(ref('apiextensions/v1.FieldValueErrorReason'), {
      tag: 4,
      doc: 'Reason of the error: FieldValueInvalid (the default), FieldValueForbidden, FieldValueRequired or FieldValueDuplicate.',
    }),
    fieldPath: field(string(), {
      tag: 5,
      doc: "Path of the field that the error names, relative to the value, such as .a.b or ['a.b']. It must be in the schema.",
    }),
    optionalOldSelf: pointer(boolean(), {
      tag: 6,
      featureGate: 'CRDValidationRatcheting',
      doc: 'True if oldSelf is an optional, so that a rule that names it is also evaluated when there is no old value.',
    }),
  })),
  WebhookClientConfig: struct('Address of a webhook: a url or a service, exactly one of them.', () => ({
    url: pointer(string(), { tag: 3, doc: 'Address that is called, beginning with https. User name, query and fragment are not allowed.' }),
    service: pointer(ref('apiextensions/v1.ServiceReference'), { tag: 1, doc: 'Service of the cluster that is called.' }),
    caBundle: field(bytes(), {
      tag: 2,
      doc: "Certificates, in PEM, that the service must be signed by. Unset means the roots that the server's system trusts.",
    }),
  })),
  WebhookConversion: struct('A service that converts objects.', () => ({
    clientConfig: pointer(ref('apiextensions/v1.WebhookClientConfig'), { tag: 2, doc: 'Address of the service. Required.' }),
    conversionReviewVersions: atomicSince30(list(string()), {
      tag: 3,
      required: true,
      doc: 'Versions of ConversionReview that the service understands, best first.',
    }),
  })),
})
