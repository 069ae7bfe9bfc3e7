import {
  boolean,
  bytes,
  defineTypes,
  double,
  field,
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
  variant,
} from '../schema/define.ts'

/** The types of apiextensions/v1: one definition each, read by everything that knows a type. */
export const apiextensionsV1 = defineTypes({
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ConversionRequest: () =>
    struct({
      uid: field(string(), { tag: 1, required: true }),
      desiredAPIVersion: field(string(), { tag: 2, required: true }),
      objects: field(list(raw()), { tag: 3, required: true }),
    }),
  ConversionResponse: () =>
    struct({
      uid: field(string(), { tag: 1, required: true }),
      convertedObjects: field(list(raw()), { tag: 2, required: true }),
      result: field(ref('meta/v1.Status'), { tag: 3, required: true }),
    }),
  ConversionReview: () =>
    object({
      request: field(ref('apiextensions/v1.ConversionRequest'), { tag: 1, pointer: true }),
      response: field(ref('apiextensions/v1.ConversionResponse'), { tag: 2, pointer: true }),
    }),
  ConversionStrategyType: () => known('None', 'Webhook'),
  CustomResourceColumnDefinition: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      type: field(string(), { tag: 2, required: true }),
      format: field(string(), { tag: 3 }),
      description: field(string(), { tag: 4 }),
      priority: field(int32(), { tag: 5 }),
      jsonPath: field(string(), { tag: 6, required: true }),
    }),
  CustomResourceConversion: () =>
    struct({
      strategy: field(ref('apiextensions/v1.ConversionStrategyType'), { tag: 1, required: true }),
      webhook: field(ref('apiextensions/v1.WebhookConversion'), { tag: 2, pointer: true }),
    }),
  CustomResourceDefinition: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('apiextensions/v1.CustomResourceDefinitionSpec'), {
        tag: 2,
        required: true,
        doc: 'The wanted state, as the user asks for it.',
      }),
      status: field(ref('apiextensions/v1.CustomResourceDefinitionStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  CustomResourceDefinitionCondition: () =>
    struct({
      type: field(ref('apiextensions/v1.CustomResourceDefinitionConditionType'), {
        tag: 1,
        required: true,
        doc: 'What the condition is about.',
      }),
      status: field(ref('apiextensions/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(time(), { tag: 3, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 4, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
    }),
  CustomResourceDefinitionConditionType: () =>
    known('Established', 'NamesAccepted', 'NonStructuralSchema', 'Terminating', 'KubernetesAPIApprovalPolicyConformant'),
  CustomResourceDefinitionList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('apiextensions/v1.CustomResourceDefinition')), {
          tag: 2,
          required: true,
          doc: 'The CustomResourceDefinition objects of the list.',
        }),
      },
      { doc: 'A list of CustomResourceDefinition objects.' },
    ),
  CustomResourceDefinitionNames: () =>
    struct({
      plural: field(string(), { tag: 1, required: true }),
      singular: field(string(), { tag: 2 }),
      shortNames: field(list(string()), { tag: 3 }),
      kind: field(string(), { tag: 4, required: true }),
      listKind: field(string(), { tag: 5 }),
      categories: field(list(string()), { tag: 6 }),
    }),
  CustomResourceDefinitionSpec: () =>
    struct({
      group: field(string(), { tag: 1, required: true }),
      names: field(ref('apiextensions/v1.CustomResourceDefinitionNames'), { tag: 3, required: true }),
      scope: field(ref('apiextensions/v1.ResourceScope'), { tag: 4, required: true }),
      versions: field(list(ref('apiextensions/v1.CustomResourceDefinitionVersion')), { tag: 7, required: true }),
      conversion: field(ref('apiextensions/v1.CustomResourceConversion'), { tag: 9, pointer: true }),
      preserveUnknownFields: field(boolean(), { tag: 10 }),
    }),
  CustomResourceDefinitionStatus: () =>
    struct({
      conditions: field(list(ref('apiextensions/v1.CustomResourceDefinitionCondition')), {
        tag: 1,
        keepEmpty: true,
        listType: 'map',
        listMapKeys: ['type'],
      }),
      acceptedNames: field(ref('apiextensions/v1.CustomResourceDefinitionNames'), { tag: 2, keepEmpty: true }),
      storedVersions: field(list(string()), { tag: 3, keepEmpty: true }),
    }),
  CustomResourceDefinitionVersion: () =>
    struct({
      name: field(string(), { tag: 1, required: true }),
      served: field(boolean(), { tag: 2, required: true }),
      storage: field(boolean(), { tag: 3, required: true }),
      deprecated: field(boolean(), { tag: 7 }),
      deprecationWarning: field(string(), { tag: 8, pointer: true }),
      schema: field(ref('apiextensions/v1.CustomResourceValidation'), { tag: 4, pointer: true }),
      subresources: field(ref('apiextensions/v1.CustomResourceSubresources'), { tag: 5, pointer: true }),
      additionalPrinterColumns: field(list(ref('apiextensions/v1.CustomResourceColumnDefinition')), { tag: 6 }),
    }),
  CustomResourceSubresourceScale: () =>
    struct({
      specReplicasPath: field(string(), { tag: 1, required: true }),
      statusReplicasPath: field(string(), { tag: 2, required: true }),
      labelSelectorPath: field(string(), { tag: 3, pointer: true }),
    }),
  CustomResourceSubresourceStatus: () => struct({}),
  CustomResourceSubresources: () =>
    struct({
      status: field(ref('apiextensions/v1.CustomResourceSubresourceStatus'), {
        tag: 1,
        pointer: true,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
      scale: field(ref('apiextensions/v1.CustomResourceSubresourceScale'), { tag: 2, pointer: true }),
    }),
  CustomResourceValidation: () =>
    struct({
      openAPIV3Schema: field(ref('apiextensions/v1.JSONSchemaProps'), { tag: 1, pointer: true }),
    }),
  ExternalDocumentation: () =>
    struct({
      description: field(string(), { tag: 1 }),
      url: field(string(), { tag: 2 }),
    }),
  JSONSchemaProps: () =>
    struct({
      id: field(string(), { tag: 1 }),
      $schema: field(string(), { tag: 2, protoName: 'schema' }),
      $ref: field(string(), { tag: 3, protoName: 'ref', pointer: true }),
      description: field(string(), { tag: 4 }),
      type: field(string(), { tag: 5 }),
      format: field(string(), { tag: 6 }),
      title: field(string(), { tag: 7 }),
      default: field(json(), { tag: 8, pointer: true }),
      maximum: field(double(), { tag: 9, pointer: true }),
      exclusiveMaximum: field(boolean(), { tag: 10 }),
      minimum: field(double(), { tag: 11, pointer: true }),
      exclusiveMinimum: field(boolean(), { tag: 12 }),
      maxLength: field(int64(), { tag: 13, pointer: true }),
      minLength: field(int64(), { tag: 14, pointer: true }),
      pattern: field(string(), { tag: 15 }),
      maxItems: field(int64(), { tag: 16, pointer: true }),
      minItems: field(int64(), { tag: 17, pointer: true }),
      uniqueItems: field(boolean(), { tag: 18 }),
      multipleOf: field(double(), { tag: 19, pointer: true }),
      enum: field(list(json()), { tag: 20 }),
      maxProperties: field(int64(), { tag: 21, pointer: true }),
      minProperties: field(int64(), { tag: 22, pointer: true }),
      required: field(list(string()), { tag: 23 }),
      items: field(ref('apiextensions/v1.JSONSchemaPropsOrArray'), { tag: 24, pointer: true }),
      allOf: field(list(ref('apiextensions/v1.JSONSchemaProps')), { tag: 25 }),
      oneOf: field(list(ref('apiextensions/v1.JSONSchemaProps')), { tag: 26 }),
      anyOf: field(list(ref('apiextensions/v1.JSONSchemaProps')), { tag: 27 }),
      not: field(ref('apiextensions/v1.JSONSchemaProps'), { tag: 28, pointer: true }),
      properties: field(map(ref('apiextensions/v1.JSONSchemaProps')), { tag: 29 }),
      additionalProperties: field(ref('apiextensions/v1.JSONSchemaPropsOrBool'), { tag: 30, pointer: true }),
      patternProperties: field(map(ref('apiextensions/v1.JSONSchemaProps')), { tag: 31 }),
      dependencies: field(map(ref('apiextensions/v1.JSONSchemaPropsOrStringArray')), { tag: 32 }),
      additionalItems: field(ref('apiextensions/v1.JSONSchemaPropsOrBool'), { tag: 33, pointer: true }),
      definitions: field(map(ref('apiextensions/v1.JSONSchemaProps')), { tag: 34 }),
      externalDocs: field(ref('apiextensions/v1.ExternalDocumentation'), { tag: 35, pointer: true }),
      example: field(json(), { tag: 36, pointer: true }),
      nullable: field(boolean(), { tag: 37 }),
      'x-kubernetes-preserve-unknown-fields': field(boolean(), { tag: 38, protoName: 'xKubernetesPreserveUnknownFields', pointer: true }),
      'x-kubernetes-embedded-resource': field(boolean(), { tag: 39, protoName: 'xKubernetesEmbeddedResource' }),
      'x-kubernetes-int-or-string': field(boolean(), { tag: 40, protoName: 'xKubernetesIntOrString' }),
      'x-kubernetes-list-map-keys': field(list(string()), { tag: 41, protoName: 'xKubernetesListMapKeys' }),
      'x-kubernetes-list-type': field(string(), { tag: 42, protoName: 'xKubernetesListType', pointer: true }),
      'x-kubernetes-map-type': field(string(), { tag: 43, protoName: 'xKubernetesMapType', pointer: true }),
      'x-kubernetes-validations': field(list(ref('apiextensions/v1.ValidationRule')), {
        tag: 44,
        protoName: 'xKubernetesValidations',
        patchStrategy: 'merge',
        patchMergeKey: 'rule',
        listType: 'map',
        listMapKeys: ['rule'],
      }),
    }),
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
  ServiceReference: () =>
    struct({
      namespace: field(string(), { tag: 1, required: true }),
      name: field(string(), { tag: 2, required: true }),
      path: field(string(), { tag: 3, pointer: true }),
      port: field(int32(), { tag: 4, pointer: true }),
    }),
  ValidationRule: () =>
    struct({
      rule: field(string(), { tag: 1, required: true }),
      message: field(string(), { tag: 2 }),
    }),
  WebhookClientConfig: () =>
    struct({
      url: field(string(), { tag: 3, pointer: true }),
      service: field(ref('apiextensions/v1.ServiceReference'), { tag: 1, pointer: true }),
      caBundle: field(bytes(), { tag: 2 }),
    }),
  WebhookConversion: () =>
    struct({
      clientConfig: field(ref('apiextensions/v1.WebhookClientConfig'), { tag: 2, pointer: true }),
      conversionReviewVersions: field(list(string()), { tag: 3, required: true }),
    }),
})
