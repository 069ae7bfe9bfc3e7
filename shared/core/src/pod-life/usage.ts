import { parseQuantity, quantitySign, roundUpQuantity } from '../meta/quantity.ts'

/** The resource usage of a running container. */
export interface ContainerUsage {
  readonly nanoCores: number
  readonly bytes: number
}

/** The usage from a time after the container's start on. Absent members have defaults. */
export interface UsageTurn extends Partial<ContainerUsage> {
  readonly atMs: number
}

/** The default usage of a container: 1m CPU, 20Mi memory. */
const usualUsage: ContainerUsage = { nanoCores: 1_000_000, bytes: 20 * 1024 * 1024 }

/** Parses `cpu=100m,memory=64Mi` in any order, or only one of them; undefined for other texts. */
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

/** The usage of a container at a time since its start. */
export function usageAt(turns: readonly UsageTurn[], ranMs: number): ContainerUsage {
  const { nanoCores = usualUsage.nanoCores, bytes = usualUsage.bytes } = turns.findLast(({ atMs }) => atMs <= ranMs) ?? {}
  return { nanoCores, bytes }
}
