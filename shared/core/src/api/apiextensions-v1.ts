import { atomic, atomicSince30, field, merged, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { closed, known, string, valuesByLevel } from '../description/texts.ts'
import { boolean, bytes, double, int32, int64, json, list, map, raw, ref, variant } from '../description/values.ts'
import { lastChange, metadata, objectList } from './common.ts'

/** The types of apiextensions/v1. */
export const apiextensionsV1 = defineTypes({
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ConversionRequest: struct('Objects to convert.', () => ({
    uid: required(string(), 1, 'Identity of this question, which the answer repeats.'),
    desiredAPIVersion: required(string(), 2, 'Group version that is wanted.'),
    objects: atomicSince30(list(raw()), 3, { required: true, doc: 'The objects.' }),
  })),
  ConversionResponse: struct('Objects that were converted.', () => ({
    uid: required(string(), 1, 'Identity of the question.'),
    convertedObjects: atomicSince30(list(raw()), 2, { required: true, doc: 'The objects, in the order of the question.' }),
    result: required(ref('meta/v1.Status'), 3, 'Success, or the reason of the failure.'),
  })),
  ConversionReview: object('A question to a conversion webhook, and its answer.', () => ({
    request: pointer(ref('apiextensions/v1.ConversionRequest'), 1, 'The question.'),
    response: pointer(ref('apiextensions/v1.ConversionResponse'), 2, 'The answer.'),
  })),
  ConversionStrategyType: () => known('None', 'Webhook'),
  CustomResourceColumnDefinition: struct('A column of the tables of a resource.', () => ({
    name: required(string(), 1, 'Heading of the column.'),
    type: required(string(), 2, 'Type of the cells, as in OpenAPI.'),
    format: field(string(), 3, 'Format of the type, as in OpenAPI. The column with the format name identifies a row.'),
    description: field(string(), 4, 'Description of the column.'),
    priority: field(int32(), 5, {
      doc: '0 for columns that are always shown. Columns with higher numbers are omitted first when there is little space.',
    }),
    jsonPath: required(string(), 6, 'Path of the value in the object, beginning with a dot.'),
  })),
  CustomResourceConversion: struct('Conversion of objects between versions.', () => ({
    strategy: required(ref('apiextensions/v1.ConversionStrategyType'), 1, 'None changes apiVersion only; Webhook asks a service.'),
    webhook: pointer(ref('apiextensions/v1.WebhookConversion'), 2, 'The service, for Webhook.'),
  })),
  CustomResourceDefinition: object('Adds a custom resource to the API. It must be named plural.group.', () => ({
    metadata,
    spec: required(ref('apiextensions/v1.CustomResourceDefinitionSpec'), 2, 'The resource.'),
    status: field(ref('apiextensions/v1.CustomResourceDefinitionStatus'), 3, 'Observed state of the definition, and its accepted names.'),
  })),
  CustomResourceDefinitionCondition: struct("One aspect of a definition's state.", () => ({
    type: required(ref('apiextensions/v1.CustomResourceDefinitionConditionType'), 1, {
      doc: 'Aspect that the condition describes, such as Established, NamesAccepted or Terminating.',
    }),
    status: required(ref('apiextensions/v1.ConditionStatus'), 2, 'True, False or Unknown.'),
    ...lastChange(3),
    observedGeneration: field(int64(), 6, {
      since: 35,
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
    plural: required(string(), 1, 'Plural name, used in paths. Lower case.'),
    singular: field(string(), 2, 'Singular name. Lower case. Default: the kind in lower case.'),
    shortNames: atomicSince30(list(string()), 3, 'Abbreviations that command lines accept. Lower case.'),
    kind: required(string(), 4, 'Kind of the objects, in CamelCase.'),
    listKind: field(string(), 5, 'Kind of lists. Default: the kind followed by List.'),
    categories: atomicSince30(list(string()), 6, 'Collections that the resource is part of, such as all.'),
  })),
  CustomResourceDefinitionSpec: struct('A resource that is added to the API.', () => ({
    group: required(string(), 1, "API group of the resource. It must be the end of the object's name."),
    names: required(ref('apiextensions/v1.CustomResourceDefinitionNames'), 3, 'Names of the resource and its kind.'),
    scope: required(ref('apiextensions/v1.ResourceScope'), 4, 'Namespaced for objects within namespaces, otherwise Cluster.'),
    versions: atomicSince30(list(ref('apiextensions/v1.CustomResourceDefinitionVersion')), 7, {
      required: true,
      doc: 'Versions of the resource. The order in which clients see them follows from their names.',
    }),
    conversion: pointer(ref('apiextensions/v1.CustomResourceConversion'), 9, 'Conversion of objects between versions.'),
    preserveUnknownFields: field(boolean(), 10, {
      doc: 'Deprecated. Keeps fields that the schema does not name. Must be false; schemas state it instead.',
    }),
  })),
  CustomResourceDefinitionStatus: struct('Observed state of a definition.', () => ({
    conditions: field(list(ref('apiextensions/v1.CustomResourceDefinitionCondition')), 1, {
      keepEmpty: true,
      listType: 'map',
      listMapKeys: ['type'],
      doc: 'State of the definition by aspect.',
    }),
    acceptedNames: field(ref('apiextensions/v1.CustomResourceDefinitionNames'), 2, {
      keepEmpty: true,
      doc: 'Names under which the resource is served. They may differ from those asked for.',
    }),
    storedVersions: atomicSince30(list(string()), 3, {
      keepEmpty: true,
      doc: 'Versions in which objects may be stored. They cannot be removed from the spec while they are listed here.',
    }),
    observedGeneration: field(int64(), 4, {
      since: 35,
      featureGate: 'CRDObservedGenerationTracking',
      doc: 'Generation of the definition from which the status was made.',
    }),
  })),
  CustomResourceDefinitionVersion: struct('A version of an added resource.', () => ({
    name: required(string(), 1, 'Name of the version, such as v1 or v2beta1.'),
    served: required(boolean(), 2, 'True if clients can use the version.'),
    storage: required(boolean(), 3, 'True if objects are stored in this version. Exactly one version is the storage version.'),
    deprecated: field(boolean(), 7, 'True if clients that use the version are warned. Default: false.'),
    deprecationWarning: pointer(string(), 8, 'Text of the warning. Default: one made of the name of the version.'),
    schema: pointer(ref('apiextensions/v1.CustomResourceValidation'), 4, 'Schema of objects of the version.'),
    subresources: pointer(ref('apiextensions/v1.CustomResourceSubresources'), 5, 'Subresources of the version.'),
    additionalPrinterColumns: atomicSince30(list(ref('apiextensions/v1.CustomResourceColumnDefinition')), 6, {
      doc: 'Columns of tables. Default: the age.',
    }),
    selectableFields: atomic(list(ref('apiextensions/v1.SelectableField')), 9, {
      since: 30,
      featureGate: 'CustomResourceFieldSelectors',
      doc: 'Fields that field selectors may name, 8 at most.',
    }),
  })),
  CustomResourceSubresourceScale: struct('Paths of the values of the scale subresource in the object.', () => ({
    specReplicasPath: required(string(), 1, 'Path of the desired number, below .spec.'),
    statusReplicasPath: required(string(), 2, 'Path of the current number, below .status.'),
    labelSelectorPath: pointer(string(), 3, 'Path of the label selector as text, below .spec or .status. Needed for autoscaling.'),
  })),
  CustomResourceSubresourceStatus: struct('A status subresource. It has no settings.', () => ({})),
  CustomResourceSubresources: struct('Subresources of a resource.', () => ({
    status: pointer(ref('apiextensions/v1.CustomResourceSubresourceStatus'), 1, {
      doc: 'Adds a status subresource; other writes then do not change the status.',
    }),
    scale: pointer(ref('apiextensions/v1.CustomResourceSubresourceScale'), 2, 'Gives the resource a scale subresource.'),
  })),
  CustomResourceValidation: struct('Schema of objects.', () => ({
    openAPIV3Schema: pointer(ref('apiextensions/v1.JSONSchemaProps'), 1, 'The schema.'),
  })),
  ExternalDocumentation: struct('Points to further documentation.', () => ({
    description: field(string(), 1, 'Type of the path.'),
    url: field(string(), 2, 'Address of the documentation.'),
  })),
  FieldValueErrorReason: () => closed('FieldValueRequired', 'FieldValueDuplicate', 'FieldValueInvalid', 'FieldValueForbidden'),
  JSONSchemaProps: struct("A schema, in OpenAPI's subset of JSON Schema, with a few additions.", () => ({
    id: field(string(), 1, 'Not allowed.'),
    $schema: field(string(), 2, 'Address of the version of JSON Schema.'),
    $ref: pointer(string(), 3, 'Not allowed.'),
    description: field(string(), 4, 'Meaning of the value.'),
    type: field(string(), 5, 'Type of the value: object, array, string, integer, number or boolean.'),
    format: field(string(), 6, 'Format of the value. Known ones are checked, others ignored.'),
    title: field(string(), 7, 'Short name of the value.'),
    default: pointer(json(), 8, 'Value that is filled in when there is none.'),
    maximum: pointer(double(), 9, 'Greatest number.'),
    exclusiveMaximum: field(boolean(), 10, 'True if the greatest number itself is excluded.'),
    minimum: pointer(double(), 11, 'Least number.'),
    exclusiveMinimum: field(boolean(), 12, 'True if the least number itself is excluded.'),
    maxLength: pointer(int64(), 13, 'Greatest length of a string.'),
    minLength: pointer(int64(), 14, 'Least length of a string.'),
    pattern: field(string(), 15, 'Regular expression that a string must match.'),
    maxItems: pointer(int64(), 16, 'Greatest number of items.'),
    minItems: pointer(int64(), 17, 'Least number of items.'),
    uniqueItems: field(boolean(), 18, 'True if items must differ. Only false is allowed.'),
    multipleOf: pointer(double(), 19, 'Number that the value must be a multiple of.'),
    enum: atomicSince30(list(json()), 20, 'Values that are allowed.'),
    maxProperties: pointer(int64(), 21, 'Greatest number of properties.'),
    minProperties: pointer(int64(), 22, 'Least number of properties.'),
    required: atomicSince30(list(string()), 23, 'Required properties.'),
    items: pointer(ref('apiextensions/v1.JSONSchemaPropsOrArray'), 24, 'Schema of the items of an array.'),
    allOf: atomicSince30(list(ref('apiextensions/v1.JSONSchemaProps')), 25, 'Schemas that must all hold.'),
    oneOf: atomicSince30(list(ref('apiextensions/v1.JSONSchemaProps')), 26, 'Schemas of which exactly one must hold.'),
    anyOf: atomicSince30(list(ref('apiextensions/v1.JSONSchemaProps')), 27, 'Schemas of which at least one must hold.'),
    not: pointer(ref('apiextensions/v1.JSONSchemaProps'), 28, 'Schema that must not hold.'),
    properties: field(map(ref('apiextensions/v1.JSONSchemaProps')), 29, 'Schemas of properties, by name.'),
    additionalProperties: pointer(ref('apiextensions/v1.JSONSchemaPropsOrBool'), 30, {
      doc: 'Schema of all other properties. Not together with properties.',
    }),
    patternProperties: field(map(ref('apiextensions/v1.JSONSchemaProps')), 31, 'Not allowed.'),
    dependencies: field(map(ref('apiextensions/v1.JSONSchemaPropsOrStringArray')), 32, 'Not allowed.'),
    additionalItems: pointer(ref('apiextensions/v1.JSONSchemaPropsOrBool'), 33, 'Not allowed.'),
    definitions: field(map(ref('apiextensions/v1.JSONSchemaProps')), 34, 'Not allowed.'),
    externalDocs: pointer(ref('apiextensions/v1.ExternalDocumentation'), 35, 'Further documentation.'),
    example: pointer(json(), 36, 'An example of the value.'),
    nullable: field(boolean(), 37, 'True if null is allowed. Default: false.'),
    'x-kubernetes-preserve-unknown-fields': pointer(boolean(), 38, {
      doc: 'Keeps fields that the schema does not name, at any depth. Otherwise they are dropped.',
    }),
    'x-kubernetes-embedded-resource': field(boolean(), 39, 'The value is an object of the API, with apiVersion, kind and metadata.'),
    'x-kubernetes-int-or-string': field(boolean(), 40, 'The value is an integer or a string. No type is given then.'),
    'x-kubernetes-list-map-keys': field(list(string()), 41, {
      changes: { 30: { listType: 'atomic' } },
      doc: 'Properties that identify an item in a list of type map.',
    }),
    'x-kubernetes-list-type': pointer(string(), 42, {
      doc: 'Merge strategy of lists: atomic (the default, as a whole), set (by value) or map (by keys).',
    }),
    'x-kubernetes-map-type': pointer(string(), 43, 'Merge strategy of objects: granular (the default, by field) or atomic (as a whole).'),
    'x-kubernetes-validations': merged('rule', list(ref('apiextensions/v1.ValidationRule')), 44, 'Rules that the value must satisfy.'),
  })),
  JSONSchemaPropsOrArray: () =>
    variant({
      object: { tag: 1, node: ref('apiextensions/v1.JSONSchemaProps') },
      array: { tag: 2, node: list(ref('apiextensions/v1.JSONSchemaProps')) },
    }),
  JSONSchemaPropsOrBool: () =>
    variant({
      boolean: { tag: 1, node: boolean() },
      object: { tag: 2, node: ref('apiextensions/v1.JSONSchemaProps') },
    }),
  JSONSchemaPropsOrStringArray: () =>
    variant({
      object: { tag: 1, node: ref('apiextensions/v1.JSONSchemaProps') },
      array: { tag: 2, node: list(string()) },
    }),
  ResourceScope: () => known('Cluster', 'Namespaced'),
  SelectableField: struct('A field that field selectors may name.', () => ({
    jsonPath: required(string(), 1, {
      doc: 'Path of a string, boolean or integer outside of metadata, such as .spec.color. Array notation is not allowed.',
    }),
  })),
  ServiceReference: struct('Points to a service of the cluster that answers webhook calls.', () => ({
    namespace: required(string(), 1, 'Namespace of the service. Required.'),
    name: required(string(), 2, 'Name of the service. Required.'),
    path: pointer(string(), 3, 'Path of the URL that is called.'),
    port: pointer(int32(), 4, 'Port of the service, from 1 to 65535. Default: 443.'),
  })),
  ValidationRule: struct('A rule that a value must satisfy.', () => ({
    rule: required(string(), 1, 'The rule, in the Common Expression Language, where self is the value. It must give true.'),
    message: field(string(), 2, 'Message of a failure. Default: a message made from the rule.'),
    messageExpression: field(string(), 3, {
      since: 27,
      doc: 'Expression for the message, which must give a string. It takes precedence over message; when it fails, message is used.',
    }),
    reason: pointer(ref('apiextensions/v1.FieldValueErrorReason'), 4, {
      since: 28,
      doc: 'Reason of the error: FieldValueInvalid (the default), FieldValueForbidden, FieldValueRequired or FieldValueDuplicate.',
    }),
    fieldPath: field(string(), 5, {
      since: 28,
      doc: "Path of the field that the error names, relative to the value, such as .a.b or ['a.b']. It must be in the schema.",
    }),
    optionalOldSelf: pointer(boolean(), 6, {
      since: 29,
      featureGate: 'CRDValidationRatcheting',
      doc: 'True if oldSelf is an optional, so that a rule that names it is also evaluated when there is no old value.',
    }),
  })),
  WebhookClientConfig: struct('Address of a webhook: a url or a service, exactly one of them.', () => ({
    url: pointer(string(), 3, 'Address that is called, beginning with https. User name, query and fragment are not allowed.'),
    service: pointer(ref('apiextensions/v1.ServiceReference'), 1, 'Service of the cluster that is called.'),
    caBundle: field(bytes(), 2, {
      doc: "Certificates, in PEM, that the service must be signed by. Unset means the roots that the server's system trusts.",
    }),
  })),
  WebhookConversion: struct('A service that converts objects.', () => ({
    clientConfig: pointer(ref('apiextensions/v1.WebhookClientConfig'), 2, 'Address of the service. Required.'),
    conversionReviewVersions: atomicSince30(list(string()), 3, {
      required: true,
      doc: 'Versions of ConversionReview that the service understands, best first.',
    }),
  })),
})
