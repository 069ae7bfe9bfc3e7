import { parseQuantity, quantitySign, roundUpQuantity } from '../meta/quantity.ts'

/** The use of a running container. */
export interface ContainerUsage {
  readonly nanoCores: number
  readonly bytes: number
}

/** The use of a container whose script says nothing of it: 1m of processor, 20Mi of memory. */
export const usualUsage: ContainerUsage = { nanoCores: 1_000_000, bytes: 20 * 1024 * 1024 }

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
