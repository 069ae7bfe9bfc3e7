import { boolean, bytes, defineTypes, field, known, list, map, object, raw, ref, string, struct } from '../schema/define.ts'

/** The types of admission/v1: one definition each, read by everything that knows a type. */
export const admissionV1 = defineTypes({
  AdmissionRequest: () =>
    struct({
      uid: field(string(), { tag: 1, required: true }),
      kind: field(ref('meta/v1.GroupVersionKind'), { tag: 2, required: true }),
      resource: field(ref('meta/v1.GroupVersionResource'), { tag: 3, required: true }),
      subResource: field(string(), { tag: 4 }),
      requestKind: field(ref('meta/v1.GroupVersionKind'), { tag: 13, pointer: true }),
      requestResource: field(ref('meta/v1.GroupVersionResource'), { tag: 14, pointer: true }),
      requestSubResource: field(string(), { tag: 15 }),
      name: field(string(), { tag: 5 }),
      namespace: field(string(), { tag: 6 }),
      operation: field(ref('admission/v1.Operation'), { tag: 7, required: true }),
      userInfo: field(ref('authentication/v1.UserInfo'), { tag: 8, required: true }),
      object: field(raw(), { tag: 9 }),
      oldObject: field(raw(), { tag: 10 }),
      dryRun: field(boolean(), { tag: 11, pointer: true }),
      options: field(raw(), { tag: 12 }),
    }),
  AdmissionResponse: () =>
    struct({
      uid: field(string(), { tag: 1, required: true }),
      allowed: field(boolean(), { tag: 2, required: true }),
      status: field(ref('meta/v1.Status'), {
        tag: 3,
        pointer: true,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
      patch: field(bytes(), { tag: 4 }),
      patchType: field(ref('admission/v1.PatchType'), { tag: 5, pointer: true }),
      auditAnnotations: field(map(string()), { tag: 6 }),
      warnings: field(list(string()), { tag: 7 }),
    }),
  AdmissionReview: () =>
    object({
      request: field(ref('admission/v1.AdmissionRequest'), { tag: 1, pointer: true }),
      response: field(ref('admission/v1.AdmissionResponse'), { tag: 2, pointer: true }),
    }),
  Operation: () => known('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
  PatchType: () => known('JSONPatch'),
})
