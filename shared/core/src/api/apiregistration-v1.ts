import { boolean, bytes, defineTypes, field, int32, known, list, object, ref, string, struct, time } from '../schema/define.ts'

/** The types of apiregistration/v1: one definition each, read by everything that knows a type. */
export const apiregistrationV1 = defineTypes({
  APIService: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1 }),
      spec: field(ref('apiregistration/v1.APIServiceSpec'), { tag: 2 }),
      status: field(ref('apiregistration/v1.APIServiceStatus'), { tag: 3 }),
    }),
  APIServiceCondition: () =>
    struct({
      type: field(ref('apiregistration/v1.APIServiceConditionType'), { tag: 1, required: true }),
      status: field(ref('apiregistration/v1.ConditionStatus'), { tag: 2, required: true }),
      lastTransitionTime: field(time(), { tag: 3 }),
      reason: field(string(), { tag: 4 }),
      message: field(string(), { tag: 5 }),
    }),
  APIServiceConditionType: () => known('Available'),
  APIServiceList: () =>
    object({
      metadata: field(ref('meta/v1.ListMeta'), { tag: 1 }),
      items: field(list(ref('apiregistration/v1.APIService')), { tag: 2, required: true }),
    }),
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
