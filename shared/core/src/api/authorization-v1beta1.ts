import { field } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import { struct } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { list } from '../description/values.ts'
import { authorizationV1 } from './authorization-v1.ts'

const { FieldSelectorAttributes: _field, LabelSelectorAttributes: _label, ...shared } = authorizationV1

/** The types of authorization/v1beta1, which are those of v1 with another name for a user's groups. */
export const authorizationV1beta1 = inVersion(
  {
    ...shared,
    ResourceAttributes: struct('A request for a resource.', () => {
      const { fieldSelector: _fields, labelSelector: _labels, ...members } = shared.ResourceAttributes().members
      return members
    }),
    SubjectAccessReviewSpec: () => {
      const spec = shared.SubjectAccessReviewSpec()
      const { resourceAttributes, nonResourceAttributes, user, extra, uid } = spec.members
      const group = field(list(string()), 4, 'Groups of the user.')
      return { ...spec, members: { resourceAttributes, nonResourceAttributes, user, group, extra, uid } }
    },
  },
  { from: 'authorization/v1', to: 'authorization/v1beta1' },
)
