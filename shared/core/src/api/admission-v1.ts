import { field, pointer } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { known, string } from '../description/texts.ts'
import { boolean, bytes, list, map, raw, ref } from '../description/values.ts'
import { requiredUntil } from './common.ts'

/** The types of admission/v1. */
export const admissionV1 = defineTypes({
  AdmissionRequest: struct('Request to a webhook.', () => ({
    uid: field(string(), 1, { ...requiredUntil(35), doc: 'Identity of this question, which the answer repeats.' }),
    kind: field(ref('meta/v1.GroupVersionKind'), 2, {
      ...requiredUntil(35),
      doc: 'Kind of the object, in the version that the webhook sees.',
    }),
    resource: field(ref('meta/v1.GroupVersionResource'), 3, {
      ...requiredUntil(35),
      doc: 'Resource of the request, in the version that the webhook sees.',
    }),
    subResource: field(string(), 4, 'Subresource of the request, if any.'),
    requestKind: pointer(ref('meta/v1.GroupVersionKind'), 13, 'Kind of the object as the client sent it.'),
    requestResource: pointer(ref('meta/v1.GroupVersionResource'), 14, 'Resource as the client named it.'),
    requestSubResource: field(string(), 15, 'Subresource as the client named it.'),
    name: field(string(), 5, 'Name of the object. Empty when the server will make one.'),
    namespace: field(string(), 6, 'Namespace of the request, if any.'),
    operation: field(ref('admission/v1.Operation'), 7, {
      ...requiredUntil(35),
      doc: 'CREATE, UPDATE, DELETE or CONNECT. It differs from the verb of the request if that results in another operation.',
    }),
    userInfo: field(ref('authentication/v1.UserInfo'), 8, { ...requiredUntil(35), doc: 'User who makes the request.' }),
    object: field(raw(), 9, 'The object after the change. Unset for DELETE.'),
    oldObject: field(raw(), 10, 'The object before the change. Unset for CREATE and CONNECT.'),
    dryRun: pointer(boolean(), 11, 'True for a dry run: nothing is stored. Default: false.'),
    options: field(raw(), 12, 'Options of the operation, such as DeleteOptions.'),
  })),
  AdmissionResponse: struct('Response of a webhook.', () => ({
    uid: field(string(), 1, { ...requiredUntil(35), doc: 'Identity of the question.' }),
    allowed: field(boolean(), 2, { ...requiredUntil(35), doc: 'True if the request is admitted.' }),
    status: pointer(ref('meta/v1.Status'), 3, 'Reason of a refusal. Ignored if the request is admitted.'),
    patch: field(bytes(), 4, 'Changes to the object, as a JSON patch in base64.'),
    patchType: pointer(ref('admission/v1.PatchType'), 5, 'Format of the patch. The only value is JSONPatch.'),
    auditAnnotations: field(map(string()), 6, 'Notes for the audit log. The name of the webhook is put before each key.'),
    warnings: field(list(string()), 7, {
      changes: { 35: { listType: 'atomic' } },
      doc: 'Warnings for the client, best below 120 characters.',
    }),
  })),
  AdmissionReview: object('A question to an admission webhook, and its answer.', () => ({
    request: pointer(ref('admission/v1.AdmissionRequest'), 1, 'The question.'),
    response: pointer(ref('admission/v1.AdmissionResponse'), 2, 'The answer.'),
  })),
  Operation: () => known('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
  PatchType: () => known('JSONPatch'),
})
