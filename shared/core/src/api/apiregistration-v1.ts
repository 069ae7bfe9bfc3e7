import { boolean, bytes, defineTypes, field, int32, known, list, object, ref, string, struct, time } from '../schema/define.ts'

/** The types of apiregistration/v1: one definition each, read by everything that knows a type. */
export const apiregistrationV1 = defineTypes({
  APIService: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('apiregistration/v1.APIServiceSpec'), { tag: 2, doc: 'The wanted state, as the user asks for it.' }),
      status: field(ref('apiregistration/v1.APIServiceStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  APIServiceCondition: () =>
    struct({
      type: field(ref('apiregistration/v1.APIServiceConditionType'), { tag: 1, required: true, doc: 'What the condition is about.' }),
      status: field(ref('apiregistration/v1.ConditionStatus'), { tag: 2, required: true, doc: 'True, False or Unknown.' }),
      lastTransitionTime: field(time(), { tag: 3, doc: 'When the status last changed from one value to another.' }),
      reason: field(string(), { tag: 4, doc: 'One word in CamelCase that says why the condition has this status, for programs.' }),
      message: field(string(), { tag: 5, doc: 'Details of the last change, for people.' }),
    }),
  APIServiceConditionType: () => known('Available'),
  APIServiceList: () =>
    object(
      {
        metadata: field(ref('meta/v1.ListMeta'), {
          tag: 1,
          doc: 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.',
        }),
        items: field(list(ref('apiregistration/v1.APIService')), { tag: 2, required: true, doc: 'The APIService objects of the list.' }),
      },
      { doc: 'A list of APIService objects.' },
    ),
  APIServiceSpec: () =>
    struct({
      service: field(ref('apiregistration/v1.ServiceReference'), { tag: 1, pointer: true }),
      group: field(string(), { tag: 2 }),
      version: field(string(), { tag: 3 }),
      insecureSkipTLSVerify: field(boolean(), { tag: 4 }),
      caBundle: field(bytes(), { tag: 5, listType: 'atomic' }),
      groupPriorityMinimum: field(int32(), { tag: 7, required: true }),
      versionPriority: field(int32(), { tag: 8, required: true }),
    }),
  APIServiceStatus: () =>
    struct({
      conditions: field(list(ref('apiregistration/v1.APIServiceCondition')), {
        tag: 1,
        patchStrategy: 'merge',
        patchMergeKey: 'type',
        listType: 'map',
        listMapKeys: ['type'],
      }),
    }),
  ConditionStatus: () => known('True', 'False', 'Unknown'),
  ServiceReference: () =>
    struct({
      namespace: field(string(), { tag: 1 }),
      name: field(string(), { tag: 2 }),
      port: field(int32(), { tag: 3, pointer: true }),
    }),
})
