import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, formOf } from '../api.ts'
import type { KubeList, KubeObject } from '../objects.ts'
import { repeat } from '../repeat.ts'
import { linkTo } from '../route.ts'

interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean }
  readonly status?: {
    readonly capacity?: Readonly<Record<string, string>>
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[]
  }
}

interface NodeState {
  readonly node: Node
  /** A text, because the number may be a lower bound. */
  readonly pods: string
}

const nodesMax = 50
const podsMax = 250

/** The nodes with the number of their Pods. */
export function Nodes() {
  const nodes = useSignal<readonly NodeState[]>([])
  useEffect(() => repeat(readNodes, (found) => (nodes.value = found)), [])
  if (nodes.value.length === 0) return null
  return (
    <section aria-labelledby="nodes">
      <h2 id="nodes">Nodes</h2>
      <ul class="nodes">
        {nodes.value.map(({ node, pods }) => {
          const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
          const isReady = ready?.status === 'True'
          return (
            <li key={node.metadata.name}>
              <a href={linkTo('object', { kind: 'nodes', name: node.metadata.name })}>{node.metadata.name}</a>
              <span class={isReady ? 'good' : 'bad'}>{isReady ? 'Ready' : (ready?.reason ?? 'not ready')}</span>
              {node.spec?.unschedulable === true && <span class="warn">cordoned</span>}
              <a href={linkTo('objects', { kind: 'pods', field: `spec.nodeName=${node.metadata.name}` })}>
                {pods} of {node.status?.capacity?.['pods'] ?? '?'} Pods
              </a>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

async function readNodes(): Promise<NodeState[]> {
  const { items } = await ask<KubeList<Node>>(`/api/v1/nodes?limit=${nodesMax}`)
  return Promise.all(
    items.map(async (node) => {
      // Rows without objects: a node may have hundreds of Pods, and only their number is shown.
      const query = { fieldSelector: `spec.nodeName=${node.metadata.name}`, limit: String(podsMax), includeObject: 'None' }
      const { rows, metadata } = await ask<{ readonly rows: readonly object[] | null; readonly metadata: { readonly continue?: string } }>(
        `/api/v1/pods?${new URLSearchParams(query)}`,
        { headers: { accept: formOf('Table') } },
      )
      return { node, pods: `${rows?.length ?? 0}${(metadata.continue ?? '') === '' ? '' : '+'}` }
    }),
  )
}
