import { getOrMake } from '@orch/core/memo'
import { limits } from '../limits.ts'
import { type RespondParts, refuseUnknownParameters } from '../request/index.ts'
import { type DocumentHandler, objectResponse } from './document.ts'

/** The dependencies of the admission page. */
export type AdmissionRouteParts = RespondParts & {
  /** The metrics of this gateway. */
  readonly countedMetrics: CountedMetrics
}

/** Metrics that are read individually. */
export interface CountedMetrics {
  getSingleMetric(name: string): { get(): Promise<{ readonly values: readonly CountedValue[] }> } | undefined
}

interface CountedValue {
  readonly value: number
  readonly labels: Readonly<Partial<Record<string, string | number>>>
  /** Of a histogram: the name of the row, which ends with `_sum`, `_count` or `_bucket`. */
  readonly metricName?: string
}

/** A plugin or a webhook in one phase. */
interface CalledRow {
  readonly name: string
  readonly phase: string
  calls: number
  refused: number
  seconds: number
}

/** The checks or changes of one policy by one of its bindings, with one result. */
interface PolicyRow {
  readonly name: string
  readonly binding: string
  /** `allow`, `deny`, `audit` or `warn`; of a mutating policy `mutate`. */
  readonly action: string
  /** '' for a check without an error. */
  readonly error: string
  calls: number
  seconds: number
}

/**
 * Serves the calls, costs and refusals of admission since the start: of plugins and webhooks by phase, and of policies. The figures equal `/metrics`;
 * with several threads, of the answering thread.
 */
export const admissionRoute: DocumentHandler<AdmissionRouteParts> = async (context) => {
  const { request, parts } = context
  refuseUnknownParameters(request.query, [])
  const { countedMetrics: metrics } = parts
  const read = async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values ?? []
  const plugins = calledRows(await read('apiserver_admission_controller_admission_duration_seconds'))
  const webhooks = calledRows(await read('apiserver_admission_webhook_admission_duration_seconds'))
  const ignored = await read('apiserver_admission_webhook_fail_open_count')
  const policies = [
    ...policyRows(await read('apiserver_validating_admission_policy_check_duration_seconds')),
    ...policyRows(await read('apiserver_mutating_admission_policy_check_duration_seconds')),
  ]
  return objectResponse(context, {
    kind: 'Admission',
    plugins: mostCalled(plugins),
    webhooks: mostCalled(webhooks).map((row) => ({ ...row, ignored: ignoredOf(row, ignored) })),
    policies: mostCalled(policies),
  })
}

function mostCalled<Row extends { readonly calls: number }>(rows: readonly Row[]): Row[] {
  return [...rows].sort((one, other) => other.calls - one.calls).slice(0, limits.admissionRowsMax)
}

function calledRows(values: readonly CountedValue[]): CalledRow[] {
  const rows = new Map<string, CalledRow>()
  for (const { value, labels, metricName = '' } of values) {
    const [name, type, isRefused] = [String(labels['name']), String(labels['type']), labels['rejected'] === 'true']
    const phase = type === 'admit' ? 'mutate' : 'validate'
    const row = getOrMake(rows, `${phase} ${name}`, () => ({ name, phase, calls: 0, refused: 0, seconds: 0 }))
    if (metricName.endsWith('_sum')) row.seconds += value
    if (!metricName.endsWith('_count')) continue
    row.calls += value
    if (isRefused) row.refused += value
  }
  return [...rows.values()]
}

function policyRows(values: readonly CountedValue[]): PolicyRow[] {
  const rows = new Map<string, PolicyRow>()
  for (const { value, labels, metricName = '' } of values) {
    const [name, binding, action] = [
      String(labels['policy']),
      String(labels['policy_binding']),
      String(labels['enforcement_action'] ?? 'mutate'),
    ]
    const error = labels['error_type'] === undefined || labels['error_type'] === 'no_error' ? '' : String(labels['error_type'])
    const key = JSON.stringify([name, binding, action, error])
    const row = getOrMake(rows, key, () => ({ name, binding, action, error, calls: 0, seconds: 0 }))
    if (metricName.endsWith('_sum')) row.seconds += value
    if (metricName.endsWith('_count')) row.calls += value
  }
  return [...rows.values()]
}

function ignoredOf({ name, phase }: CalledRow, values: readonly CountedValue[]): number {
  const type = phase === 'mutate' ? 'admit' : 'validating'
  return values.filter(({ labels }) => labels['name'] === name && labels['type'] === type).reduce((sum, { value }) => sum + value, 0)
}
