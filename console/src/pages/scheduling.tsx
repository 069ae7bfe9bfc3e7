import type { ClusterLists, ExplainedNode, Pod, SchedulingExplanation } from '@orch/core/scheduling'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, serverFacts } from '../api.ts'
import type { KubeList, KubeObject } from '../objects.ts'
import { Problem } from '../problem.tsx'
import { repeat } from '../repeat.ts'
import { linkTo, route } from '../route.ts'
import { messageOf } from '../text.ts'

/** Maximum objects of each kind; `orchctl explain-schedule` explains larger clusters. */
const listMax = 5_000

interface PodObject extends KubeObject {
  readonly spec?: { readonly nodeName?: string }
  readonly status?: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly message?: string }[] }
}

/** The page Scheduling: waiting Pods, and each plugin's decision about each node for one of them. */
export function Scheduling() {
  const { query } = route.value
  const ns = query.get('ns') ?? ''
  const [place, name] = (query.get('pod') ?? '').split('/')
  const pods = useSignal<readonly PodObject[] | undefined>(undefined)
  const problem = useSignal('')
  useEffect(() => {
    pods.value = undefined
    problem.value = ''
    const path = ns === '' ? '/api/v1/pods' : `/api/v1/namespaces/${encodeURIComponent(ns)}/pods`
    return repeat(
      () => ask<KubeList<PodObject>>(`${path}?fieldSelector=spec.nodeName%3D&limit=500`),
      ({ items }) => (pods.value = items),
      (error) => (problem.value = messageOf(error)),
    )
  }, [ns])
  return (
    <>
      <h1>Scheduling</h1>
      <Problem text={problem.value} />
      <p class="dim">Pods without a node. Choose one to see the answers of the scheduler's plugins.</p>
      <ul class="plain">
        {(pods.value ?? []).map(({ metadata, status }) => {
          const pod = `${metadata.namespace}/${metadata.name}`
          return (
            <li key={pod}>
              <a href={linkTo('scheduling', { ns, pod })} aria-current={pod === query.get('pod') ? 'true' : undefined}>
                {pod}
              </a>{' '}
              <span class="dim">{status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message}</span>
            </li>
          )
        })}
        {pods.value?.length === 0 && <li class="dim">Each Pod has a node. A Pod that waits for one is listed here.</li>}
      </ul>
      {place !== undefined && name !== undefined && <Explained key={`${place}/${name}`} namespace={place} name={name} />}
    </>
  )
}

function Explained({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const explanation = useSignal<SchedulingExplanation | undefined>(undefined)
  const problem = useSignal('')
  useEffect(() => {
    explain(namespace, name).then(
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
async function explain(namespace: string, name: string): Promise<SchedulingExplanation> {
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
  const storage = `storage.${apiDomain}`
  const list = async <Name extends keyof ClusterLists>(name: Name, path: string) => {
    const { items } = await ask<{ readonly items: ClusterLists[Name] }>(`${path}?limit=${listMax}`)
    return { [name]: items }
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
    ...(hasDevices
      ? [
          list('resourceClaims', `/apis/resource.${apiDomain}/v1/resourceclaims`),
          list('deviceClasses', `/apis/resource.${apiDomain}/v1/deviceclasses`),
        ]
      : []),
  ])
  return Object.assign({}, ...parts)
}
