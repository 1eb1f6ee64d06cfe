import PptxGenJS from 'pptxgenjs';

const deck = new PptxGenJS();
const slide = deck.addSlide();
slide.addText('Made in a sandbox', { x: 0.5, y: 0.5, w: 9, h: 1, fontSize: 36 });
slide.addTable([[{ text: 'quarter' }, { text: 'sales' }], [{ text: '1' }, { text: '1200' }], [{ text: '2' }, { text: '1350' }]],
  { x: 0.5, y: 2, w: 5 });
await deck.writeFile({ fileName: 'deck.pptx' });
