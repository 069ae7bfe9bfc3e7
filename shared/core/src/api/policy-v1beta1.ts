import { field, pointer } from '../description/fields.ts'
import { inVersion } from '../description/in-version.ts'
import { object } from '../description/structs.ts'
import { ref } from '../description/values.ts'
import { policyV1 } from './policy-v1.ts'

const { PodDisruptionBudget, PodDisruptionBudgetList, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } = policyV1

const budgets = inVersion(
  { PodDisruptionBudget, PodDisruptionBudgetList, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus },
  { from: 'policy/v1', to: 'policy/v1beta1' },
)

/** The types of policy/v1beta1. */
export const policyV1beta1 = {
  ...budgets,
  Eviction: object(
    'Asks that a pod be ended, unless a disruption budget stands against it. Made through the eviction subresource of the pod.',
    () => ({
      metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata. The name is that of the pod.'),
      deleteOptions: pointer(ref('meta/v1.DeleteOptions'), 2, 'Options of the delete.'),
    }),
  ),
}
