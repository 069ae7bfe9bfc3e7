/** Conversion of objects between the versions of a definition. */
export * from './objects.ts'
export * from './review.ts'
