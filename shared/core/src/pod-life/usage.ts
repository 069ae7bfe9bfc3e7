import { parseQuantity, quantitySign, roundUpQuantity } from '../meta/quantity.ts'

/** The use of a running container. */
export interface ContainerUsage {
  readonly nanoCores: number
  readonly bytes: number
}

/** The use of a running container from a time after its start on. Absent members are as usual. */
export interface UsageTurn extends Partial<ContainerUsage> {
  readonly atMs: number
}

/** The use of a container whose script says nothing of it: 1m of processor, 20Mi of memory. */
const usualUsage: ContainerUsage = { nanoCores: 1_000_000, bytes: 20 * 1024 * 1024 }

/** Reads `cpu=100m,memory=64Mi`, in any order, or one of them. Undefined: it is another text. */
export function parseUsage(text: string): Partial<ContainerUsage> | undefined {
  const usage: { nanoCores?: number; bytes?: number } = {}
  for (const part of text.split(',')) {
    const [, resource, amount = ''] = /^\s*(cpu|memory)=(\S+)\s*$/.exec(part) ?? []
    const quantity = parseQuantity(amount)
    if (resource === undefined || quantity === undefined || quantitySign(quantity) < 0) return undefined
    if (resource === 'cpu') usage.nanoCores = Number(roundUpQuantity(quantity, -9))
    else usage.bytes = Number(roundUpQuantity(quantity))
  }
  return usage
}

/** The use of a container by the time since its start. */
export function usageAt(turns: readonly UsageTurn[], ranMs: number): ContainerUsage {
  const { nanoCores = usualUsage.nanoCores, bytes = usualUsage.bytes } = turns.findLast(({ atMs }) => atMs <= ranMs) ?? {}
  return { nanoCores, bytes }
}
