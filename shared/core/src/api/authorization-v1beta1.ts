import { field, list, map, ref, string, struct, wrapped } from '../description/define.ts'
import { inVersion } from '../description/in-version.ts'
import { authorizationV1 } from './authorization-v1.ts'

const {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  NonResourceRule,
  ResourceRule,
  SelfSubjectAccessReview,
  SelfSubjectAccessReviewSpec,
  SelfSubjectRulesReview,
  SelfSubjectRulesReviewSpec,
  SubjectAccessReview,
  SubjectAccessReviewStatus,
  SubjectRulesReviewStatus,
} = authorizationV1

/** The types of authorization/v1beta1, which are those of v1 with another name for a user's groups. */
export const authorizationV1beta1 = inVersion(
  {
    LocalSubjectAccessReview,
    NonResourceAttributes,
    NonResourceRule,
    ResourceRule,
    SelfSubjectAccessReview,
    SelfSubjectAccessReviewSpec,
    SelfSubjectRulesReview,
    SelfSubjectRulesReviewSpec,
    SubjectAccessReview,
    SubjectAccessReviewStatus,
    SubjectRulesReviewStatus,
    ResourceAttributes: () =>
      struct(
        {
          namespace: field(string(), { tag: 1, doc: 'Namespace. Empty means none, or all for a resource with namespaces.' }),
          verb: field(string(), { tag: 2, doc: 'Verb: get, list, watch, create, update, patch, delete and so on. * means all.' }),
          group: field(string(), { tag: 3, doc: 'API group. * means all.' }),
          version: field(string(), { tag: 4, doc: 'Version of the group. * means all.' }),
          resource: field(string(), { tag: 5, doc: 'Resource. * means all.' }),
          subresource: field(string(), { tag: 6, doc: 'Subresource. Empty means the resource itself.' }),
          name: field(string(), { tag: 7, doc: 'Name of the object. Empty means all.' }),
        },
        { doc: 'A request for a resource.' },
      ),
    SubjectAccessReviewSpec: () =>
      struct(
        {
          resourceAttributes: field(ref('authorization/v1beta1.ResourceAttributes'), {
            tag: 1,
            pointer: true,
            doc: 'A request for a resource.',
          }),
          nonResourceAttributes: field(ref('authorization/v1beta1.NonResourceAttributes'), {
            tag: 2,
            pointer: true,
            doc: 'A request for a path that is not a resource.',
          }),
          user: field(string(), { tag: 3, doc: 'Name of the user.' }),
          group: field(list(string()), { tag: 4, doc: 'Groups of the user.' }),
          extra: field(map(wrapped(string())), { tag: 5, doc: 'Further attributes of the user.' }),
          uid: field(string(), { tag: 6, doc: 'Identity of the user.' }),
        },
        { doc: 'User and access in question. Exactly one of the attributes is set, and at least one of user and groups.' },
      ),
  },
  { from: 'authorization/v1', to: 'authorization/v1beta1' },
)
