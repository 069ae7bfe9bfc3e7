import { boolean, bytes, defineTypes, field, known, list, map, object, raw, ref, string, struct } from '../description/define.ts'

/** The types of admission/v1. */
export const admissionV1 = defineTypes({
  AdmissionRequest: () =>
    struct(
      {
        uid: field(string(), {
          tag: 1,
          required: true,
          changes: { 36: { required: false, keepEmpty: true } },
          doc: 'Identity of this question, which the answer repeats.',
        }),
        kind: field(ref('meta/v1.GroupVersionKind'), {
          tag: 2,
          required: true,
          changes: { 36: { required: false, keepEmpty: true } },
          doc: 'Kind of the object, in the version that the webhook sees.',
        }),
        resource: field(ref('meta/v1.GroupVersionResource'), {
          tag: 3,
          required: true,
          changes: { 36: { required: false, keepEmpty: true } },
          doc: 'Resource of the request, in the version that the webhook sees.',
        }),
        subResource: field(string(), { tag: 4, doc: 'Subresource of the request, if any.' }),
        requestKind: field(ref('meta/v1.GroupVersionKind'), { tag: 13, pointer: true, doc: 'Kind of the object as the client sent it.' }),
        requestResource: field(ref('meta/v1.GroupVersionResource'), { tag: 14, pointer: true, doc: 'Resource as the client named it.' }),
        requestSubResource: field(string(), { tag: 15, doc: 'Subresource as the client named it.' }),
        name: field(string(), { tag: 5, doc: 'Name of the object. Empty when the server will make one.' }),
        namespace: field(string(), { tag: 6, doc: 'Namespace of the request, if any.' }),
        operation: field(ref('admission/v1.Operation'), {
          tag: 7,
          required: true,
          changes: { 36: { required: false, keepEmpty: true } },
          doc: 'CREATE, UPDATE, DELETE or CONNECT. It differs from the verb of the request if that results in another operation.',
        }),
        userInfo: field(ref('authentication/v1.UserInfo'), {
          tag: 8,
          required: true,
          changes: { 36: { required: false, keepEmpty: true } },
          doc: 'User who makes the request.',
        }),
        object: field(raw(), { tag: 9, doc: 'The object after the change. Unset for DELETE.' }),
        oldObject: field(raw(), { tag: 10, doc: 'The object before the change. Unset for CREATE and CONNECT.' }),
        dryRun: field(boolean(), { tag: 11, pointer: true, doc: 'True for a dry run: nothing is stored. Default: false.' }),
        options: field(raw(), { tag: 12, doc: 'Options of the operation, such as DeleteOptions.' }),
      },
      { doc: 'Request to a webhook.' },
    ),
  AdmissionResponse: () =>
    struct(
      {
        uid: field(string(), {
          tag: 1,
          required: true,
          changes: { 36: { required: false, keepEmpty: true } },
          doc: 'Identity of the question.',
        }),
        allowed: field(boolean(), {
          tag: 2,
          required: true,
          changes: { 36: { required: false, keepEmpty: true } },
          doc: 'True if the request is admitted.',
        }),
        status: field(ref('meta/v1.Status'), {
          tag: 3,
          pointer: true,
          doc: 'Reason of a refusal. Ignored if the request is admitted.',
        }),
        patch: field(bytes(), { tag: 4, doc: 'Changes to the object, as a JSON patch in base64.' }),
        patchType: field(ref('admission/v1.PatchType'), {
          tag: 5,
          pointer: true,
          doc: 'Format of the patch. The only value is JSONPatch.',
        }),
        auditAnnotations: field(map(string()), { tag: 6, doc: 'Notes for the audit log. The name of the webhook is put before each key.' }),
        warnings: field(list(string()), {
          tag: 7,
          changes: { 35: { listType: 'atomic' } },
          doc: 'Warnings for the client, best below 120 characters.',
        }),
      },
      { doc: 'Response of a webhook.' },
    ),
  AdmissionReview: () =>
    object(
      {
        request: field(ref('admission/v1.AdmissionRequest'), { tag: 1, pointer: true, doc: 'The question.' }),
        response: field(ref('admission/v1.AdmissionResponse'), { tag: 2, pointer: true, doc: 'The answer.' }),
      },
      { doc: 'A question to an admission webhook, and its answer.' },
    ),
  Operation: () => known('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
  PatchType: () => known('JSONPatch'),
})
