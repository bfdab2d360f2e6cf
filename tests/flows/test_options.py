"""Labels of pages and descriptions of what to take are told apart."""

from __future__ import annotations

import pytest

from surefoot.flows._options import describes, orders

LABELS = (
    """
Best Western|Cheapest|Cheapest first|Lowest price first|First class|Most relevant|Best match|Best sellers|
Top rated|Price: low to high|Highest rated|Newest|Newest first|Latest|Most popular|Fastest|Lowest price|
Best offer|Best price guarantee|The Best of ABBA|The North Face|The First 48|First name|Last 7 days|
Last name|First floor|Saver|Economy|Premium Economy|Cheapest flights|Best Buy|Best Western Plus Hotel|
The Best Exotic Marigold Hotel|Shortest duration|Earliest departure|Next day delivery|Last minute|Any|
Any time|Any price|Preferred seat|All results|Next|First|Last page|Next Sunday|24 December|Mr|
Günstigste zuerst|Am günstigsten|Niedrigster Preis|Erste Klasse|Beste Ergebnisse|Neueste zuerst|
Más barato|Más relevantes|Los más vendidos|El más barato|Primera clase|Le moins cher|Première classe|
Prix croissants|Les plus récents|सबसे सस्ता|सबसे नया|सबसे लोकप्रिय|प्रथम श्रेणी|最安値|価格の安い順|おすすめ順|最新順|人気順|
普通席|エコノミー|First available|Best available rate|A to Z|The Guardian|Die Zeit|La Quinta|most relevant|
newest first|Lowest Fare|Most recent|Nearest first|Most helpful reviews|Oldest to newest|Window seat|A4|
Best value|La mejor oferta|Large|One way|Book|Right aligned|Correct answer|Room only|Room with breakfast|
Hotel Best Western|Flight + Hotel|Hotel with pool|Next 7 days|Delivery to the nearest store|
Most viewed|Top picks|Recommended|Distance from centre|Price (lowest first)|Price (highest first)|
Best reviewed first|Soonest|Departure: earliest|Date added (newest)|Last modified|First-class single|
Super Saver Return|Standard|Superior Double Room|Next available date|Last chance|The Times|A-Level|
La Liga|Le Monde|Der Spiegel|Die neuesten Angebote|Bestseller|Beliebteste zuerst|Preis aufsteigend|
Kürzeste Dauer|Schnellste|Precio más bajo primero|Mejor valorados|Más populares|Meilleures ventes|
Prix le plus bas|Nouveautés|कीमत: कम से ज़्यादा|सबसे कम कीमत|नवीनतम|新着順|価格が安い順|評価の高い順|レビューの多い順|一番人気|指定席|
最短ルート|Any airline|Any size|Best available|First come, first served|Nearest airport|Lowest emissions|
Best overall|Cheapest overall|Cheapest day|First aid|Most liked|Right|Last 30 days|Largest first|
Largest selection|Highest first|Next week|Preferred language
""".strip()
    .replace("\n", "")
    .split("|")
)
DESCRIPTIONS = (
    """
the cheapest fare|cheapest flight|the cheapest|the best rated hotel|lowest fare|the first result|
first result|Cheapest Flight|the flight with the lowest price|flight with the lowest price|
the earliest flight|nearest store|the most expensive room|least expensive option|best rated hotel|
first available slot|the lowest price|any available room|the appropriate size|the desired date|
the next available appointment|der günstigste Flug|günstigster Flug|die billigste Option|
das erste Ergebnis|bestbewertetes Hotel|der Flug mit dem niedrigsten Preis|die früheste Verbindung|
el vuelo más barato|vuelo más barato|la opción más económica|el primer resultado|mejor opción|
el hotel mejor valorado|le vol le moins cher|le premier résultat|meilleure option|l'option la moins chère|
l'hôtel le mieux noté|सबसे सस्ती उड़ान|सबसे सस्ता टिकट|सबसे अच्छा होटल|सबसे पहली ट्रेन|最も安い便|一番安い航空券|
最安値のフライト|最初の結果|最も評価の高いホテル|the best option|cheapest available fare|the shortest route|
a hotel near the station with the best rating|whichever option is cheapest|the fare that is cheapest|
la plus proche pharmacie|most recent invoice|latest email|the option with the best reviews|
cheapest nonstop flight|the matching result|fastest train|
the cheapest direct flight|cheapest option|the newest model in the list|
the highest rated restaurant nearby|the closest pharmacy|the shortest train ride|
earliest available appointment|the first free slot|the room with the lowest rate|the lowest priced ticket|
most affordable hotel|the seat nearest to the window|the second cheapest fare|any suitable date|
das günstigste Zimmer|den billigsten Tarif|das am besten bewertete Hotel|schnellste Verbindung|
der nächste freie Termin|die nächstgelegene Filiale|la habitación más económica|el billete más barato|
la primera opción|el más barato|le billet le moins cher|la chambre la moins chère|
le premier créneau disponible|सबसे नज़दीकी होटल|सबसे तेज़ ट्रेन|最も早い列車|一番近い店舗|最低価格の商品|評価が最も高いレストラン|最初の候補|
the desired seat|the cheapest one|a suitable time|the top result
""".strip()
    .replace("\n", "")
    .split("|")
)


@pytest.mark.parametrize("label", LABELS)
def test_a_label_is_no_description(label):
    """Names of shops and orders hold the same words: Best Western, Lowest price first, Le moins cher."""
    assert not describes(label)


@pytest.mark.parametrize("text", DESCRIPTIONS)
def test_a_description_is_told(text):
    """A result with a criterion, in six languages."""
    assert describes(text)


def test_a_list_that_orders_results_is_known_by_its_words():
    """Its labels are criteria."""
    for what in (
        "sort by",
        "Sort order",
        "Sortierung",
        "ordenar por",
        "trier par",
        "並べ替え",
        "क्रम",
        "filters",
    ):
        assert orders(what)
    for what in ("fare", "cabin class", "Tarif", "座席"):
        assert not orders(what)


def test_the_words_inside_a_name_do_not_count():
    """What stands in `${}` is known only when the flow runs."""
    assert not describes("${the cheapest fare}")
    assert describes("the cheapest fare to ${city}")
