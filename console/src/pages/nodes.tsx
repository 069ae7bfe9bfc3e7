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
const podsMax = 5_000

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
  if (items.length === 0) return []
  // Rows without objects: of thousands of Pods, only the column with the node is needed.
  const table = await ask<PodTable>(`/api/v1/pods?limit=${podsMax}&includeObject=None`, { headers: { accept: formOf('Table') } })
  const column = table.columnDefinitions.findIndex(({ name }) => name === 'Node')
  const byNode = Map.groupBy(table.rows ?? [], ({ cells }) => cells[column])
  const more = (table.metadata.continue ?? '') === '' ? '' : '+'
  return items.map((node) => ({ node, pods: `${byNode.get(node.metadata.name)?.length ?? 0}${more}` }))
}

interface PodTable {
  readonly metadata: { readonly continue?: string }
  readonly columnDefinitions: readonly { readonly name: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[] }[] | null
}
