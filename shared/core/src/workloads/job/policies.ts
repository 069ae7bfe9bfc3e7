import type { BuiltIn } from '../../schema/built-in.ts'
import type { Pod } from '../pods.ts'
import { countIndexes, type Indexes, parseIndexes } from './indexes.ts'

type ExitCodes = BuiltIn<'batch/v1.PodFailurePolicyOnExitCodesRequirement'>

/** The first matching rule for a failed Pod. */
export interface FailureMatch {
  /** The action of the rule; undefined if no rule matches. */
  readonly action?: string | undefined
  /** False if the failure is ignored. */
  readonly isCounted: boolean
  /** The message if the Job fails; undefined if it stays active. */
  readonly message?: string
}

/** The effect of a failed Pod by the Job's podFailurePolicy. */
export function matchFailurePolicy(policy: BuiltIn<'batch/v1.PodFailurePolicy'> | null | undefined, pod: Pod): FailureMatch {
  for (const [index, rule] of policy?.rules?.entries() ?? []) {
    const cause = causeOf(rule, pod)
    if (cause === undefined) continue
    const { action } = rule
    if (action === 'FailJob') return { action, isCounted: true, message: `${cause} matching FailJob rule at index ${index}` }
    return { action, isCounted: action !== 'Ignore' }
  }
  return { isCounted: true }
}

function causeOf(rule: BuiltIn<'batch/v1.PodFailurePolicyRule'>, { metadata, status }: Pod): string | undefined {
  const name = `${metadata.namespace}/${metadata.name}`
  if (rule.onExitCodes != null) {
    const { onExitCodes } = rule
    const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])]
    const container = statuses.find((one) => isExitMatching(onExitCodes, one.name, one.state?.terminated?.exitCode))
    return container && `Container ${container.name} for pod ${name} failed with exit code ${container.state?.terminated?.exitCode}`
  }
  const condition = status.conditions?.find(({ type, status: value }) =>
    rule.onPodConditions?.some((pattern) => pattern.type === type && pattern.status === value),
  )
  return condition && `Pod ${name} has condition ${condition.type}`
}

/** Running and successful containers match no rule. */
function isExitMatching({ containerName, operator, values }: ExitCodes, name: string, exitCode: number | undefined): boolean {
  if (exitCode === undefined || exitCode === 0 || (containerName != null && containerName !== name)) return false
  if (operator === 'In') return values?.includes(exitCode) === true
  return operator === 'NotIn' && values?.includes(exitCode) !== true
}

/** The message of the first rule that the succeeded indexes meet; undefined if none is met. */
export function matchSuccessPolicy(
  policy: BuiltIn<'batch/v1.SuccessPolicy'> | null | undefined,
  { completions, succeeded }: { readonly completions: number; readonly succeeded: Indexes },
): string | undefined {
  if (succeeded.length === 0) return undefined
  const index = policy?.rules?.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes == null) return succeededCount != null && countIndexes(succeeded) >= succeededCount
    const required = parseIndexes(succeededIndexes, completions)
    const count = countCommon(required, succeeded)
    return required.length > 0 && (count === countIndexes(required) || (succeededCount != null && count >= succeededCount))
  })
  return index === undefined || index < 0 ? undefined : `Matched rules at index ${index}`
}

function countCommon(left: Indexes, right: Indexes): number {
  let count = 0
  let [leftAt, rightAt] = [0, 0]
  for (let one = left[0], other = right[0]; one !== undefined && other !== undefined; one = left[leftAt], other = right[rightAt]) {
    count += Math.max(0, Math.min(one.last, other.last) - Math.max(one.first, other.first) + 1)
    if (one.last <= other.last) leftAt++
    if (other.last <= one.last) rightAt++
  }
  return count
}
