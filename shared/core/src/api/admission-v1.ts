import { boolean, bytes, defineTypes, field, known, list, map, object, pointer, raw, ref, string, struct } from '../description/define.ts'
import { requiredUntil } from './common.ts'

/** The types of admission/v1. */
export const admissionV1 = defineTypes({
  AdmissionRequest: struct('Request to a webhook.', () => ({
    uid: field(string(), { tag: 1, ...requiredUntil(35), doc: 'Identity of this question, which the answer repeats.' }),
    kind: field(ref('meta/v1.GroupVersionKind'), {
      tag: 2,
      ...requiredUntil(35),
      doc: 'Kind of the object, in the version that the webhook sees.',
    }),
    resource: field(ref('meta/v1.GroupVersionResource'), {
      tag: 3,
      ...requiredUntil(35),
      doc: 'Resource of the request, in the version that the webhook sees.',
    }),
    subResource: field(string(), { tag: 4, doc: 'Subresource of the request, if any.' }),
    requestKind: pointer(ref('meta/v1.GroupVersionKind'), { tag: 13, doc: 'Kind of the object as the client sent it.' }),
    requestResource: pointer(ref('meta/v1.GroupVersionResource'), { tag: 14, doc: 'Resource as the client named it.' }),
    requestSubResource: field(string(), { tag: 15, doc: 'Subresource as the client named it.' }),
    name: field(string(), { tag: 5, doc: 'Name of the object. Empty when the server will make one.' }),
    namespace: field(string(), { tag: 6, doc: 'Namespace of the request, if any.' }),
    operation: field(ref('admission/v1.Operation'), {
      tag: 7,
      ...requiredUntil(35),
      doc: 'CREATE, UPDATE, DELETE or CONNECT. It differs from the verb of the request if that results in another operation.',
    }),
    userInfo: field(ref('authentication/v1.UserInfo'), { tag: 8, ...requiredUntil(35), doc: 'User who makes the request.' }),
    object: field(raw(), { tag: 9, doc: 'The object after the change. Unset for DELETE.' }),
    oldObject: field(raw(), { tag: 10, doc: 'The object before the change. Unset for CREATE and CONNECT.' }),
    dryRun: pointer(boolean(), { tag: 11, doc: 'True for a dry run: nothing is stored. Default: false.' }),
    options: field(raw(), { tag: 12, doc: 'Options of the operation, such as DeleteOptions.' }),
  })),
  AdmissionResponse: struct('Response of a webhook.', () => ({
    uid: field(string(), { tag: 1, ...requiredUntil(35), doc: 'Identity of the question.' }),
    allowed: field(boolean(), { tag: 2, ...requiredUntil(35), doc: 'True if the request is admitted.' }),
    status: pointer(ref('meta/v1.Status'), { tag: 3, doc: 'Reason of a refusal. Ignored if the request is admitted.' }),
    patch: field(bytes(), { tag: 4, doc: 'Changes to the object, as a JSON patch in base64.' }),
    patchType: pointer(ref('admission/v1.PatchType'), { tag: 5, doc: 'Format of the patch. The only value is JSONPatch.' }),
    auditAnnotations: field(map(string()), { tag: 6, doc: 'Notes for the audit log. The name of the webhook is put before each key.' }),
    warnings: field(list(string()), {
      tag: 7,
      changes: { 35: { listType: 'atomic' } },
      doc: 'Warnings for the client, best below 120 characters.',
    }),
  })),
  AdmissionReview: object('A question to an admission webhook, and its answer.', () => ({
    request: pointer(ref('admission/v1.AdmissionRequest'), { tag: 1, doc: 'The question.' }),
    response: pointer(ref('admission/v1.AdmissionResponse'), { tag: 2, doc: 'The answer.' }),
  })),
  Operation: () => known('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
  PatchType: () => known('JSONPatch'),
})
