import { type ScorePlugin, scoreMax } from '../plugin.ts'

const mebibyte = 1024 * 1024
const leastBytes = 23 * mebibyte
const mostBytes = 1000 * mebibyte

/** Prefers nodes that have the Pod's images; an image counts less if fewer nodes have it (SCHED-54). */
export const imageLocality: ScorePlugin = {
  name: 'ImageLocality',
  weight: 1,
  score({ pod: { pod, volumes }, nodes, cluster, rules: { scoresInitImages } }) {
    const { containers, initContainers } = pod.spec
    const counted = [...(containers ?? []), ...((scoresInitImages && initContainers) || [])].map(({ image = '' }) => image)
    if (scoresInitImages) for (const { image } of volumes) if (image?.reference) counted.push(image.reference)
    const sizes = counted.map((image) => cluster.imageSizes(withTag(image)))
    if (sizes.every((one) => one === undefined)) return undefined
    const nodesCount = cluster.nodes.length
    const most = mostBytes * counted.length
    return nodes.map(({ name }) => {
      let sum = 0
      for (const size of sizes) {
        const bytes = size?.get(name)
        if (size !== undefined && bytes !== undefined) sum += Math.trunc(bytes * (size.size / nodesCount))
      }
      return Math.trunc((scoreMax * (Math.min(most, Math.max(leastBytes, sum)) - leastBytes)) / (most - leastBytes))
    })
  },
}

/** Adds the tag `latest` to an image without a tag. */
function withTag(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name
}
