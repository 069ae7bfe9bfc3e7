import type { ClusterLists, DeviceTaintRule, ExplainedNode, Pod, SchedulingExplanation } from '@orch/core/scheduling'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, serverFacts } from '../api.ts'
import type { KubeList, KubeObject } from '../objects.ts'
import { pathOf } from '../paths.ts'
import { Problem } from '../problem.tsx'
import { repeat } from '../repeat.ts'
import { linkTo, route } from '../route.ts'
import { messageOf } from '../text.ts'
import { kinds } from '../world.ts'

/** Maximum waiting Pods shown. */
const podsShown = 500
/** Maximum objects of each kind; `orchctl explain-schedule` explains larger clusters. */
const listMax = 5_000

interface Lists extends ClusterLists {
  readonly taintRules: readonly DeviceTaintRule[]
}

interface PodObject extends KubeObject {
  readonly spec?: { readonly nodeName?: string }
  readonly status?: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly message?: string }[] }
}

/** The page Scheduling: waiting Pods, and each plugin's decision about each node for one of them. */
export function Scheduling() {
  const { query } = route.value
  const [ns, filter, chosen] = [query.get('ns') ?? '', (query.get('filter') ?? '').toLowerCase(), query.get('pod') ?? '']
  const list = useSignal<KubeList<PodObject> | undefined>(undefined)
  const problem = useSignal('')
  useEffect(() => {
    list.value = undefined
    problem.value = ''
    const path = ns === '' ? '/api/v1/pods' : `/api/v1/namespaces/${encodeURIComponent(ns)}/pods`
    return repeat(
      () => ask<KubeList<PodObject>>(`${path}?fieldSelector=spec.nodeName%3D&limit=${podsShown}`),
      (found) => (list.value = found),
      (error) => (problem.value = messageOf(error)),
    )
  }, [ns])
  const pods = (list.value?.items ?? [])
    .map(({ metadata, status }) => ({ pod: `${metadata.namespace}/${metadata.name}`, status }))
    .filter(({ pod }) => pod.toLowerCase().includes(filter))
  const explained = chosen.includes('/') && <Explained key={chosen} pod={chosen} />
  return (
    <>
      <h1>Scheduling</h1>
      <Problem text={problem.value} />
      <p class="dim">
        Pods without a node. Choose one to see the answers of the scheduler's plugins.
        {hasMore(list.value) && ` These are the first ${podsShown}: choose a namespace to see others.`}
      </p>
      {list.value !== undefined && !pods.some(({ pod }) => pod === chosen) && explained}
      <ul class="plain">
        {pods.map(({ pod, status }) => (
          <li key={pod}>
            <a href={linkTo('scheduling', { ns, filter, pod })} aria-current={pod === chosen ? 'true' : undefined}>
              {pod}
            </a>{' '}
            <span class="dim">{status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message}</span>
            {pod === chosen && explained}
          </li>
        ))}
        {list.value !== undefined && pods.length === 0 && (
          <li class="dim">
            {filter === '' ? 'Each Pod has a node. A Pod that waits for one is listed here.' : 'No Pod matches: clear the filter.'}
          </li>
        )}
      </ul>
    </>
  )
}

function hasMore(list: Pick<KubeList<unknown>, 'metadata'> | undefined): boolean {
  return (list?.metadata.continue ?? '') !== ''
}

function Explained({ pod }: { readonly pod: string }) {
  const explanation = useSignal<SchedulingExplanation | undefined>(undefined)
  const problem = useSignal('')
  useEffect(() => {
    explain(pod).then(
      (found) => {
        explanation.value = found
      },
      (error: unknown) => {
        problem.value = messageOf(error)
      },
    )
  }, [])
  const shown = explanation.value
  if (problem.value !== '') return <p class="problem">{problem.value}</p>
  if (shown === undefined) return <p class="dim">Reading the cluster …</p>
  const refusing = [...new Set(shown.nodes.flatMap(({ refusals }) => refusals.map(({ plugin }) => plugin)))]
  return (
    <section aria-labelledby="explained">
      <h2 id="explained">{shown.pod}</h2>
      <p>
        {shown.message ?? `It fits ${shown.best.length === 1 ? 'best on' : 'equally well on'} ${shown.best.join(', ')}.`}
        {shown.preemption !== undefined && ` ${shown.preemption.victims.join(', ')} would have to leave ${shown.preemption.node}.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <section class="table" tabIndex={0} aria-label="Nodes and plugins">
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">Node</th>
              {refusing.map((plugin) => (
                <th key={plugin} scope="col">
                  {plugin}
                </th>
              ))}
              <th scope="col">Score</th>
            </tr>
          </thead>
          <tbody>
            {shown.nodes.map((node) => (
              <NodeRow key={node.name} node={node} plugins={refusing} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function NodeRow({
  node: { name, refusals, total, scores = {} },
  plugins,
}: {
  readonly node: ExplainedNode
  readonly plugins: readonly string[]
}) {
  const parts = Object.entries(scores).map(([plugin, score]) => `${plugin} ${score}`)
  return (
    <tr>
      <th scope="row">
        <a href={linkTo('object', { kind: 'nodes', name })}>{name}</a>
      </th>
      {plugins.map((plugin) => {
        const refusal = refusals.find((one) => one.plugin === plugin)
        return (
          <td key={plugin} class={refusal === undefined ? 'good' : 'bad'}>
            {refusal === undefined ? 'fits' : refusal.reasons.join(', ')}
          </td>
        )
      })}
      <td title={parts.join('\n')}>{total ?? '–'}</td>
    </tr>
  )
}

/** The scheduler's rules are loaded on first use. */
async function explain(named: string): Promise<SchedulingExplanation> {
  const [namespace = '', name = ''] = named.split('/')
  const { explainScheduling, namesOf, parseFeatureGates, schedulingRules } = await import('../scheduling-rules.ts')
  const { profile, release, apiDomain } = serverFacts()
  const level = Number(release.split('.')[1])
  const gates = parseFeatureGates([], level)
  const isGateOn = gates.kind === 'gates' ? gates.isOn : () => false
  const pod = await ask<Pod>(`/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`)
  const rules = schedulingRules({ names: namesOf(profile), level, isGateOn })
  return explainScheduling(pod, await readLists(apiDomain, rules.hasDevices), rules)
}

async function readLists(apiDomain: string, hasDevices: boolean): Promise<ClusterLists> {
  const { withRuleTaints } = await import('../scheduling-rules.ts')
  const [storage, resource] = [`storage.${apiDomain}`, `resource.${apiDomain}`]
  const taintRuleKind = kinds.value.get(`devicetaintrules.${resource}`)
  const list = async <Name extends keyof Lists>(name: Name, path: string) => {
    const found = await ask<Pick<KubeList<unknown>, 'metadata'> & { readonly items: Lists[Name] }>(`${path}?limit=${listMax}`)
    if (hasMore(found)) throw new Error(`There are more than ${listMax} objects in ${path}: orchctl explain-schedule reads them.`)
    return { [name]: found.items }
  }
  const parts = await Promise.all([
    list('nodes', '/api/v1/nodes'),
    list('pods', '/api/v1/pods'),
    list('namespaces', '/api/v1/namespaces'),
    list('services', '/api/v1/services'),
    list('replicationControllers', '/api/v1/replicationcontrollers'),
    list('replicaSets', '/apis/apps/v1/replicasets'),
    list('statefulSets', '/apis/apps/v1/statefulsets'),
    list('budgets', '/apis/policy/v1/poddisruptionbudgets'),
    list('claims', '/api/v1/persistentvolumeclaims'),
    list('volumes', '/api/v1/persistentvolumes'),
    list('storageClasses', `/apis/${storage}/v1/storageclasses`),
    list('csiNodes', `/apis/${storage}/v1/csinodes`),
    list('csiDrivers', `/apis/${storage}/v1/csidrivers`),
    list('capacities', `/apis/${storage}/v1/csistoragecapacities`),
    list('attachments', `/apis/${storage}/v1/volumeattachments`),
    ...(hasDevices
      ? [
          list('resourceClaims', `/apis/${resource}/v1/resourceclaims`),
          list('deviceClasses', `/apis/${resource}/v1/deviceclasses`),
          list('deviceSlices', `/apis/${resource}/v1/resourceslices`),
        ]
      : []),
    ...(taintRuleKind === undefined ? [] : [list('taintRules', pathOf(taintRuleKind))]),
  ])
  const { taintRules, ...lists }: Lists = Object.assign({ taintRules: [], deviceSlices: [] }, ...parts)
  return { ...lists, deviceSlices: withRuleTaints(lists.deviceSlices, taintRules) }
}
