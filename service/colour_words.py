"""How players without a name are called: by their colour, in the language of the sentence."""

from collections.abc import Mapping

from rules.sentences import LANGUAGES

# In the order of LANGUAGES: English, German, French, Spanish, Dutch.
_WORDS = {
    "red": ("Red", "Rot", "Rouge", "Rojo", "Rood"),
    "orange": ("Orange", "Orange", "Orange", "Naranja", "Oranje"),
    "yellow": ("Yellow", "Gelb", "Jaune", "Amarillo", "Geel"),
    "green": ("Green", "Grün", "Vert", "Verde", "Groen"),
    "blue": ("Blue", "Blau", "Bleu", "Azul", "Blauw"),
    "purple": ("Purple", "Lila", "Violet", "Morado", "Paars"),
    "pink": ("Pink", "Rosa", "Rose", "Rosa", "Roze"),
    "brown": ("Brown", "Braun", "Marron", "Marrón", "Bruin"),
    "black": ("Black", "Schwarz", "Noir", "Negro", "Zwart"),
    "grey": ("Grey", "Grau", "Gris", "Gris", "Grijs"),
    "white": ("White", "Weiß", "Blanc", "Blanco", "Wit"),
    "natural": ("Natural", "Natur", "Naturel", "Natural", "Blank"),
    "light": ("Light", "Hell", "Clair", "Claro", "Licht"),
    "dark": ("Dark", "Dunkel", "Foncé", "Oscuro", "Donker"),
}

_SEATS = ("Player {}", "Spieler {}", "Joueur {}", "Jugador {}", "Speler {}")

Names = Mapping[str, Mapping[str, str]]  # language, then the player's id


def names_of(players: Mapping[str, str], colours: Mapping[str, str]) -> Names:
    """What to call each player in each language: his own name, else his colour, else his number."""
    return {
        language: {
            player: name
            or _colour(colours.get(player, ""), number)
            or (_SEATS[number].format(player) if player.isdigit() else player)
            for player, name in players.items()
        }
        for number, language in enumerate(LANGUAGES)
    }


def _colour(name: str, language: int) -> str:
    return _WORDS[name][language] if name in _WORDS else ""
